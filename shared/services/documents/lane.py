"""The use cases of dropped documents, put together. Knows ports and no adapter."""

from dataclasses import dataclass

from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.extractor import Extractor
from shared.ports.prices import Prices
from shared.ports.providers import Providers
from shared.ports.queue import Queue
from shared.ports.schemas import Schemas
from shared.ports.tables import Tables
from shared.services.announce import Announce, Notice
from shared.services.documents.claim_document import ClaimDocument
from shared.services.documents.deliver_documents import DeliverDocuments
from shared.services.documents.erase_document import EraseDocument
from shared.services.documents.event_progress import EventProgress
from shared.services.documents.finish_document import BookDocument, FinishDocument
from shared.services.documents.gather_documents import GatherDocuments
from shared.services.documents.grip import TakeDocument
from shared.services.documents.postpone import Postpone
from shared.services.documents.process_document import ProcessDocument
from shared.services.documents.publish_result import PublishResult
from shared.services.documents.read_documents import ReadDocuments
from shared.services.documents.rescore_pipeline import RescorePipeline
from shared.services.documents.retry_document import RetryDocument
from shared.services.documents.send_claim import SendClaim
from shared.services.documents.start_document_job import StartDocumentJob
from shared.services.documents.sweep_dead_letters import SweepDeadLetters
from shared.services.documents.sweep_drop_zone import SweepDropZone
from shared.services.documents.sweep_open_documents import SweepOpenDocuments
from shared.services.documents.take_storage_events import TakeStorageEvents
from shared.services.door.accept_job import AcceptJob
from shared.services.jobs.wake_job import WakeJob
from shared.services.policy import Policy
from shared.services.tasks.run_task import RunTask
from shared.stores.cursors import Cursors
from shared.stores.documents import Documents, Gathering, OpenDocuments, Paths
from shared.stores.jobs import Jobs
from shared.stores.ledger import Ledger
from shared.stores.pulses import Pulses


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPorts:
    """What of the outside dropped documents need."""

    tables: Tables
    blobs: Blobs
    queue: Queue
    catalog: CatalogSource
    providers: Providers
    prices: Prices
    schemas: Schemas
    extractor: Extractor
    clock: Clock
    policy: Policy


class DocumentLane:
    """Every use case as an attribute."""

    def __init__(
        self,
        ports: DocumentPorts,
        *,
        run_task: RunTask,
        accept: AcceptJob,
        announce: Announce,
        notice: Notice,
    ) -> None:
        self._ports = ports
        self._notice = notice
        self._documents = Documents(ports.tables)
        self._paths = Paths(ports.tables)
        self._open = OpenDocuments(ports.tables)
        self._gathering = Gathering(ports.tables)
        self._cursors = Cursors(ports.tables)
        self._progress = EventProgress(cursors=self._cursors, clock=ports.clock)
        book = BookDocument(ledger=Ledger(ports.tables), catalog=ports.catalog, prices=ports.prices)
        self.finish = self._finish(book, announce)
        self.send = SendClaim(documents=self._documents, queue=ports.queue)
        self.claim = self._claim()
        self.postpone = self._postpone(book)
        self.process = self._process(book, run_task)
        self._build_hours(accept)
        self._build_access()
        self._build_sweep()

    def _finish(self, book: BookDocument, announce: Announce) -> FinishDocument:
        return FinishDocument(
            documents=self._documents,
            open=self._open,
            blobs=self._ports.blobs,
            publish=PublishResult(paths=self._paths, blobs=self._ports.blobs),
            book=book,
            announce=announce,
            notice=self._notice,
        )

    def _claim(self) -> ClaimDocument:
        return ClaimDocument(
            documents=self._documents,
            paths=self._paths,
            open=self._open,
            gathering=self._gathering,
            blobs=self._ports.blobs,
            catalog=self._ports.catalog,
            clock=self._ports.clock,
            send=self.send,
            finish=self.finish,
            progress=self._progress,
        )

    def _postpone(self, book: BookDocument) -> Postpone:
        return Postpone(
            documents=self._documents,
            queue=self._ports.queue,
            finish=self.finish,
            book=book,
            notice=self._notice,
            clock=self._ports.clock,
            policy=self._ports.policy,
        )

    def _process(self, book: BookDocument, run_task: RunTask) -> ProcessDocument:
        ports = self._ports
        return ProcessDocument(
            documents=self._documents,
            blobs=ports.blobs,
            queue=ports.queue,
            catalog=ports.catalog,
            extractor=ports.extractor,
            clock=ports.clock,
            policy=ports.policy,
            take=TakeDocument(documents=self._documents, clock=ports.clock, policy=ports.policy),
            run_task=run_task,
            finish=self.finish,
            book=book,
            postpone=self.postpone,
            notice=self._notice,
        )

    def _build_hours(self, accept: AcceptJob) -> None:
        ports, jobs = self._ports, Jobs(self._ports.tables)
        start = StartDocumentJob(
            blobs=ports.blobs,
            providers=ports.providers,
            schemas=ports.schemas,
            accept=accept,
            clock=ports.clock,
            policy=ports.policy,
        )
        self.gather = GatherDocuments(
            documents=self._documents,
            gathering=self._gathering,
            cursors=self._cursors,
            jobs=jobs,
            blobs=ports.blobs,
            catalog=ports.catalog,
            start=start,
            clock=ports.clock,
        )
        self.rescore = RescorePipeline(jobs=jobs, blobs=ports.blobs, catalog=ports.catalog, start=start)
        self.deliver = DeliverDocuments(
            documents=self._documents, blobs=ports.blobs, clock=ports.clock, finish=self.finish
        )

    def _build_access(self) -> None:
        ports = self._ports
        self.take_storage_events = TakeStorageEvents(
            claim=self.claim,
            wake=WakeJob(pulses=Pulses(ports.tables)),
            notice=self._notice,
            clock=ports.clock,
        )
        self.read = ReadDocuments(documents=self._documents)
        self.retry = RetryDocument(
            documents=self._documents,
            open=self._open,
            gathering=self._gathering,
            catalog=ports.catalog,
            clock=ports.clock,
            send=self.send,
            finish=self.finish,
        )
        self.erase = EraseDocument(
            documents=self._documents, paths=self._paths, blobs=ports.blobs, clock=ports.clock
        )

    def _build_sweep(self) -> None:
        ports = self._ports
        self.sweep_open = SweepOpenDocuments(
            documents=self._documents,
            open=self._open,
            queue=ports.queue,
            send=self.send,
            finish=self.finish,
            postpone=self.postpone,
            notice=self._notice,
            clock=ports.clock,
            policy=ports.policy,
        )
        self.sweep_drop_zone = SweepDropZone(
            documents=self._documents,
            cursors=self._cursors,
            progress=self._progress,
            blobs=ports.blobs,
            catalog=ports.catalog,
            claim=self.claim,
            notice=self._notice,
            clock=ports.clock,
            policy=ports.policy,
        )
        self.sweep_dead_letters = SweepDeadLetters(
            documents=self._documents,
            cursors=self._cursors,
            queue=ports.queue,
            postpone=self.postpone,
            notice=self._notice,
            clock=ports.clock,
            policy=ports.policy,
        )

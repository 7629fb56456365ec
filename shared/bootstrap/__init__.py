"""The composition root: the one place where ports meet adapters, and the only reader of the environment."""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Final

from shared.adapters.logs import show_fields
from shared.bootstrap.parts import Parts
from shared.bootstrap.real import real_parts
from shared.domain.catalog import Deployment
from shared.domain.errors import NotAdmitted
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.tables import Tables
from shared.services.announce import Announce, Notice
from shared.services.authenticate import Authenticate
from shared.services.check_health import CheckHealth
from shared.services.chunks.advance_chunk import AdvanceChunk
from shared.services.chunks.clear_chunk import ClearChunk
from shared.services.chunks.collect_chunk import CollectChunk
from shared.services.chunks.own_batches import OwnBatches
from shared.services.chunks.poll_chunk import PollChunk
from shared.services.chunks.submit_chunk import SubmitChunk
from shared.services.documents.claim_document import ClaimDocument
from shared.services.documents.erase_document import EraseDocument
from shared.services.documents.gather_documents import GatherDocuments
from shared.services.documents.lane import DocumentLane, DocumentPorts
from shared.services.documents.process_document import ProcessDocument
from shared.services.documents.read_documents import ReadDocuments
from shared.services.documents.rescore_pipeline import RescorePipeline
from shared.services.documents.retry_document import RetryDocument
from shared.services.documents.take_storage_events import TakeStorageEvents
from shared.services.door.accept_job import AcceptJob
from shared.services.door.check_job import CheckJob
from shared.services.door.create_batch import CreateBatch
from shared.services.door.once import Once
from shared.services.door.take_file import TakeFile
from shared.services.door.take_upload import TakeUpload
from shared.services.files.delete_file import DeleteFile
from shared.services.files.keep_file import KeepFile
from shared.services.files.read_files import ReadFiles
from shared.services.files.show_batch import ShowBatch
from shared.services.files.sweep_files import SweepFiles
from shared.services.files.write_outputs import WriteOutputs
from shared.services.jobs.cancel_job import CancelJob
from shared.services.jobs.erase_job import EraseJob
from shared.services.jobs.finish_job import FinishJob
from shared.services.jobs.heart import Heart
from shared.services.jobs.make_upload import MakeUpload
from shared.services.jobs.read_job import ReadJob
from shared.services.jobs.retry_job import RetryJob
from shared.services.pace.pace import Pace
from shared.services.planning.earlier import Earlier
from shared.services.planning.first_round import PlanFirstRound
from shared.services.planning.plan_round import PlanRound
from shared.services.report_crash import ReportCrash
from shared.services.report_usage import ReportUsage
from shared.services.settling.settle_chunk import SettleChunk
from shared.services.sweeping.sweep import Sweep
from shared.services.sweeping.sweep_providers import SweepProviders
from shared.services.tasks.asking import Ways
from shared.services.tasks.run_task import RunTask
from shared.stores.batches import Batches
from shared.stores.door import Replies, Uploads
from shared.stores.files import Files, Lapses
from shared.stores.jobs import Chunks, Jobs
from shared.stores.ledger import Ledger
from shared.stores.notices import Findings, Outbox
from shared.stores.pulses import Pulses
from shared.stores.runs import Runs

__all__ = ["App", "Parts", "application", "build", "real_parts"]


# Its vocabulary is that of most models.
_COMMON: Final = "gpt-5"


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """The use cases, wired and ready."""

    clock: Clock
    catalog: CatalogSource
    authenticate: Authenticate
    check_health: CheckHealth
    once: Once
    accept_job: AcceptJob
    make_upload: MakeUpload
    create_batch: CreateBatch
    keep_file: KeepFile
    read_files: ReadFiles
    delete_file: DeleteFile
    show_batch: ShowBatch
    read_job: ReadJob
    cancel_job: CancelJob
    retry_job: RetryJob
    erase_job: EraseJob
    report_usage: ReportUsage
    findings: Findings
    plan_round: PlanRound
    advance_chunk: AdvanceChunk
    finish_job: FinishJob
    report_crash: ReportCrash
    sweep: Sweep
    claim_document: ClaimDocument
    process_document: ProcessDocument
    take_storage_events: TakeStorageEvents
    read_documents: ReadDocuments
    retry_document: RetryDocument
    erase_document: EraseDocument
    gather_documents: GatherDocuments
    rescore_pipeline: RescorePipeline


def build(parts: Parts) -> App:
    """Wire the use cases. Tests call it with other parts; nothing else differs."""
    stores = _Stores(parts.tables)
    announce = Announce(outbox=stores.outbox, events=parts.events)
    notice = Notice(findings=stores.findings, announce=announce)
    heart = Heart(pulses=stores.pulses, clock=parts.clock, policy=parts.policy)
    clear = ClearChunk(chunks=stores.chunks)
    collect = CollectChunk(chunks=stores.chunks, blobs=parts.blobs, clock=parts.clock, notice=notice)
    accept = _accept(parts, stores, notice)
    delete_file = DeleteFile(files=stores.files, lapses=stores.lapses, blobs=parts.blobs, clock=parts.clock)
    documents = DocumentLane(
        DocumentPorts(
            tables=parts.tables,
            blobs=parts.blobs,
            queue=parts.queue,
            catalog=parts.catalog,
            providers=parts.providers,
            prices=parts.prices,
            schemas=parts.schemas,
            extractor=parts.extractor,
            clock=parts.clock,
            policy=parts.policy,
        ),
        run_task=_run_task(parts, notice),
        accept=accept,
        announce=announce,
        notice=notice,
    )
    write_outputs = WriteOutputs(
        files=stores.files, lapses=stores.lapses, blobs=parts.blobs, clock=parts.clock
    )
    read_job = ReadJob(jobs=stores.jobs, chunks=stores.chunks, blobs=parts.blobs)
    return App(
        clock=parts.clock,
        catalog=parts.catalog,
        authenticate=Authenticate(catalog=parts.catalog, tokens=parts.verifier),
        check_health=CheckHealth(tables=parts.tables, blobs=parts.blobs, catalog=parts.catalog),
        once=Once(replies=stores.replies, clock=parts.clock),
        accept_job=accept,
        make_upload=MakeUpload(uploads=stores.uploads, blobs=parts.blobs, clock=parts.clock),
        create_batch=CreateBatch(
            jobs=stores.jobs,
            accept=accept,
            take_file=accept.take_file,
            replies=stores.replies,
            clock=parts.clock,
        ),
        keep_file=KeepFile(files=stores.files, lapses=stores.lapses, blobs=parts.blobs, clock=parts.clock),
        read_files=ReadFiles(files=stores.files, blobs=parts.blobs, clock=parts.clock),
        delete_file=delete_file,
        show_batch=ShowBatch(
            jobs=stores.jobs, read_job=read_job, write_outputs=write_outputs, delete_file=delete_file
        ),
        read_job=read_job,
        cancel_job=CancelJob(jobs=stores.jobs, pulses=stores.pulses, clock=parts.clock),
        retry_job=RetryJob(jobs=stores.jobs, blobs=parts.blobs, accept=accept, clock=parts.clock),
        erase_job=EraseJob(
            jobs=stores.jobs,
            chunks=stores.chunks,
            blobs=parts.blobs,
            catalog=parts.catalog,
            providers=parts.providers,
            clear=clear,
            delete_file=delete_file,
            clock=parts.clock,
        ),
        report_usage=ReportUsage(ledger=stores.ledger),
        findings=stores.findings,
        plan_round=_plan_round(parts, stores, heart, notice),
        advance_chunk=_advance_chunk(parts, stores, heart, notice, collect, clear),
        finish_job=FinishJob(
            jobs=stores.jobs,
            chunks=stores.chunks,
            pulses=stores.pulses,
            blobs=parts.blobs,
            catalog=parts.catalog,
            providers=parts.providers,
            heart=heart,
            clock=parts.clock,
            announce=announce,
            notice=notice,
            clear=clear,
            deliver=documents.deliver,
            write_outputs=write_outputs,
            policy=parts.policy,
        ),
        report_crash=ReportCrash(notice=notice, clock=parts.clock),
        sweep=Sweep(
            jobs=stores.jobs,
            chunks=stores.chunks,
            pulses=stores.pulses,
            outbox=stores.outbox,
            catalog=parts.catalog,
            providers=parts.providers,
            collect=collect,
            announce=announce,
            notice=notice,
            clock=parts.clock,
            policy=parts.policy,
            sweep_providers=SweepProviders(
                chunks=stores.chunks,
                own=OwnBatches(batches=stores.batches, chunks=stores.chunks),
                catalog=parts.catalog,
                providers=parts.providers,
                notice=notice,
                clock=parts.clock,
            ),
            sweep_open_documents=documents.sweep_open,
            sweep_drop_zone=documents.sweep_drop_zone,
            sweep_files=SweepFiles(
                files=stores.files, lapses=stores.lapses, blobs=parts.blobs, clock=parts.clock
            ),
            sweep_dead_letters=documents.sweep_dead_letters,
        ),
        claim_document=documents.claim,
        process_document=documents.process,
        take_storage_events=documents.take_storage_events,
        gather_documents=documents.gather,
        rescore_pipeline=documents.rescore,
        read_documents=documents.read,
        retry_document=documents.retry,
        erase_document=documents.erase,
    )


class _Stores:
    def __init__(self, tables: Tables) -> None:
        self.jobs = Jobs(tables)
        self.chunks = Chunks(tables)
        self.pulses = Pulses(tables)
        self.runs = Runs(tables)
        self.batches = Batches(tables)
        self.ledger = Ledger(tables)
        self.findings = Findings(tables)
        self.outbox = Outbox(tables)
        self.replies = Replies(tables)
        self.uploads = Uploads(tables)
        self.files = Files(tables)
        self.lapses = Lapses(tables)


def _alarm(parts: Parts, notice: Notice) -> Callable[[Deployment, NotAdmitted], Awaitable[None]]:
    async def alarm(deployment: Deployment, why: NotAdmitted) -> None:
        await notice.not_admitted(deployment.name, why, parts.clock.now())

    return alarm


def _run_task(parts: Parts, notice: Notice) -> RunTask:
    alarm = _alarm(parts, notice)
    pace = Pace(clock=parts.clock, sleep=parts.sleep, instances=parts.policy.max_instances)
    return RunTask(
        catalog=parts.catalog,
        ways=Ways(
            models=parts.models,
            prices=parts.prices,
            tokens=parts.tokens,
            pace=pace,
            alarm=alarm,
        ),
        schemas=parts.schemas,
        splitter=parts.splitter,
        windows=parts.windows,
    )


def _take_file(parts: Parts, stores: _Stores) -> TakeFile:
    return TakeFile(files=stores.files, blobs=parts.blobs, catalog=parts.catalog, clock=parts.clock)


def _accept(parts: Parts, stores: _Stores, notice: Notice) -> AcceptJob:
    return AcceptJob(
        jobs=stores.jobs,
        pulses=stores.pulses,
        take_upload=TakeUpload(
            uploads=stores.uploads, jobs=stores.jobs, blobs=parts.blobs, clock=parts.clock
        ),
        take_file=_take_file(parts, stores),
        blobs=parts.blobs,
        catalog=parts.catalog,
        check=CheckJob(
            blobs=parts.blobs,
            providers=parts.providers,
            schemas=parts.schemas,
            tokens=parts.tokens,
            alarm=_alarm(parts, notice),
        ),
        clock=parts.clock,
        policy=parts.policy,
    )


def _plan_round(parts: Parts, stores: _Stores, heart: Heart, notice: Notice) -> PlanRound:
    return PlanRound(
        jobs=stores.jobs,
        chunks=stores.chunks,
        blobs=parts.blobs,
        catalog=parts.catalog,
        providers=parts.providers,
        heart=heart,
        clock=parts.clock,
        notice=notice,
        policy=parts.policy,
        first=PlanFirstRound(
            blobs=parts.blobs,
            extractor=parts.extractor,
            tokens=parts.tokens,
            earlier=Earlier(jobs=stores.jobs, chunks=stores.chunks, runs=stores.runs, blobs=parts.blobs),
        ),
    )


def _advance_chunk(
    parts: Parts, stores: _Stores, heart: Heart, notice: Notice, collect: CollectChunk, clear: ClearChunk
) -> AdvanceChunk:
    return AdvanceChunk(
        jobs=stores.jobs,
        chunks=stores.chunks,
        catalog=parts.catalog,
        providers=parts.providers,
        heart=heart,
        clock=parts.clock,
        notice=notice,
        policy=parts.policy,
        submit=SubmitChunk(
            chunks=stores.chunks,
            blobs=parts.blobs,
            own=OwnBatches(batches=stores.batches, chunks=stores.chunks),
            clock=parts.clock,
            notice=notice,
            policy=parts.policy,
        ),
        poll=PollChunk(chunks=stores.chunks, clock=parts.clock, notice=notice, policy=parts.policy),
        collect=collect,
        settle=SettleChunk(
            chunks=stores.chunks,
            blobs=parts.blobs,
            ledger=stores.ledger,
            catalog=parts.catalog,
            prices=parts.prices,
            schemas=parts.schemas,
            notice=notice,
            policy=parts.policy,
        ),
        clear=clear,
    )


@cache
def application() -> App:
    """The app of this worker process, built on first use so that indexing the functions costs nothing.

    Raise `BadSettings` when the environment does not say what it must; what is missing is in the log.
    """
    show_fields()
    parts = real_parts(os.environ)
    # The first count loads a vocabulary, which stops the whole process for half a second: now, not in between.
    Thread(target=parts.tokens.count, args=(_COMMON, [""]), daemon=True).start()
    return build(parts)

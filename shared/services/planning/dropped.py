"""From documents of the drop zone to requests: the hours lane's half of what `ProcessDocument` does."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import batched
from typing import Final

from shared.domain.catalog import Alias, Endpoint, Lane, Pipeline
from shared.domain.errors import Rejected
from shared.domain.extraction import Extraction
from shared.domain.jobs import Job
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.tasks import TaskOrder
from shared.ports.blobs import Blobs
from shared.ports.extractor import Extractor
from shared.services.extraction import extract_blob, gone
from shared.services.planning.reading import Read
from shared.services.planning.texts import SIDE_BY_SIDE
from shared.services.tasks.prompts import endpoint_of, request_for
from shared.wire import paths as places
from shared.wire.door_shape import TOKEN_LIMITS, Shaper
from shared.wire.dropped import DroppedLine, FactsLine, read_dropped
from shared.wire.jsonl import Line
from shared.wire.spec import DocumentsSpec, JobSpec

GONE: Final = gone("the document was changed or deleted before the job read it")


class DroppedReading:
    """Reads the lines of one job in order, as `Reading` does; there is nothing to complain about in them."""

    is_sound: Final = True

    def __init__(self, job: Job, alias: Alias, spec: JobSpec, blobs: Blobs, extractor: Extractor) -> None:
        if spec.documents is None:
            raise ValueError(f"job {job.id} names documents and not what is asked about them")
        self._order = order_of(spec.documents, job, _limited(alias, spec))
        self._shaper = Shaper(
            self.endpoint, params=_without_limits(spec), schema=None, default_max_output_tokens=None
        )
        self._job = job
        self._blobs = blobs
        self._extractor = extractor
        self.count = 0

    @property
    def endpoint(self) -> Endpoint:
        return endpoint_of(self._order.task)

    def close(self) -> None:
        """For symmetry: our own lines have no errors."""

    async def read(self, lines: Sequence[Line]) -> AsyncIterator[list[Read]]:
        for few in batched(lines, SIDE_BY_SIDE, strict=False):
            places_of_few = range(self.count, self.count + len(few))
            self.count += len(few)
            pairs = zip(few, places_of_few, strict=True)
            yield list(await asyncio.gather(*(self._read(each, position) for each, position in pairs)))

    async def _read(self, numbered: Line, position: int) -> Read:
        number, content = numbered
        dropped = read_dropped(content or b"")
        text = await self._text(dropped)
        read = Read(line=number, position=position, custom_id=dropped.custom_id, body=None)
        if isinstance(text, Judgement):
            return replace(read, decided=text)
        facts = FactsLine(
            media_type=text.media_type, pages=text.pages, pages_without_text=text.pages_without_text
        )
        order = replace(self._order, text=text.text, document_name=dropped.path.rsplit("/", 1)[-1])
        try:
            body = self._shaper.shape(request_for(order))
        except Rejected as lacking:
            return replace(read, decided=_refused(lacking), facts=facts)
        return replace(read, body=body, facts=facts)

    async def _text(self, dropped: DroppedLine) -> Extraction | Judgement:
        if not dropped.path.startswith(f"{self._job.tenant}/"):
            return GONE  # never across tenants, whoever wrote the line
        info = await self._blobs.head(places.dropped(dropped.path))
        if info is None or info.etag != dropped.etag:
            return GONE
        return await extract_blob(self._blobs, self._extractor, info)


def order_of(spec: DocumentsSpec, job: Job, alias: Alias) -> TaskOrder:
    """The order without its text."""
    pipeline = Pipeline(
        name=spec.pipeline,
        task=spec.task,
        alias=alias.name,
        lane=Lane.HOURS,
        prompt=spec.prompt,
        schema_content=spec.schema,
        languages=spec.languages,
    )
    return TaskOrder(
        task=spec.task,
        text="",
        pipeline=pipeline,
        schema=spec.schema,
        alias=alias,
        tenant=job.tenant,
        correlation_id=job.id,
        document_name="",
    )


def _limited(alias: Alias, spec: JobSpec) -> Alias:
    """A retry may ask for more room than the alias gives."""
    limits = [limit for name in TOKEN_LIMITS if isinstance(limit := spec.params.get(name), int)]
    return replace(alias, max_output_tokens=limits[0]) if limits else alias


def _without_limits(spec: JobSpec) -> dict[str, object]:
    return {name: value for name, value in spec.params.items() if name not in TOKEN_LIMITS}


def _refused(lacking: Rejected) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=lacking.code, message=str(lacking))

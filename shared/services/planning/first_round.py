"""Read a job's whole input once, in flat memory, and write what the first round needs."""

import asyncio
import logging
from array import array
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import msgspec

from shared.domain.catalog import Alias, Endpoint
from shared.domain.errors import NotFound, TryAgainLater
from shared.domain.ids import RequestKey
from shared.domain.jobs import Job, Plan, SourceKind
from shared.domain.keys import KeyMaker
from shared.domain.outcomes import Outcome, Tally, Verdict
from shared.domain.planning import Limits, vectors_of
from shared.domain.rows import Judgement
from shared.ports.blobs import Blobs
from shared.ports.extractor import Extractor
from shared.ports.providers import BatchProvider
from shared.ports.tokens import Tokens
from shared.services.jobs.job_spec import load_spec
from shared.services.planning.by_key import ByKey
from shared.services.planning.cutter import Cutter
from shared.services.planning.dropped import DroppedReading
from shared.services.planning.earlier import Answered, Earlier
from shared.services.planning.reading import Oversizes, Read, Reading, check_endpoint, expected_for, oversize
from shared.services.planning.texts import Texts
from shared.services.spool import Spool
from shared.services.streams import Outlet, Pause, ahead, own_lines
from shared.wire import results
from shared.wire.door import canonical
from shared.wire.dropped import FactsLine
from shared.wire.dropped import line as facts_line
from shared.wire.jsonl import split
from shared.wire.members import ChunkSeed, IndexLine, Member, Repeat, line
from shared.wire.paths import JobPaths
from shared.wire.problems import Refused
from shared.wire.prompts import prompt_text
from shared.wire.spec import JobSpec

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """An unfinished earlier job of the run has, or will have, an answer to some of these requests."""

    by: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrunnable:
    """The input cannot be run, whatever is tried. `inputs` counts the lines that were read."""

    refusal: Refused
    inputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    plan: Plan
    seeds: list[ChunkSeed]
    endpoint: Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFirstRound:
    blobs: Blobs
    extractor: Extractor
    tokens: Tokens
    earlier: Earlier

    async def __call__(
        self, job: Job, run: int, alias: Alias, provider: BatchProvider
    ) -> Planned | Claimed | Unrunnable:
        """Nothing is sent anywhere, and nobody reads the files before the plan is committed."""
        try:
            answered = await self.earlier.answers(job)
        except Refused as refusal:
            return Unrunnable(refusal=refusal, inputs=0)
        if not job.is_cancelling and (unplanned := [o for o in answered.unfinished if o.plan is None]):
            return Claimed(by=unplanned[0])
        limits = provider.traits.limits
        cutter = Cutter(
            blobs=self.blobs, paths=JobPaths(job.tenant, job.id), run=run, limits=limits, next_n=0
        )
        async with cutter:
            with Spool() as spool:
                sorting = _Sorting(job=job, answered=answered, cutter=cutter, spool=spool, provider=provider)
                found = await self._sort(job, run, alias, sorting)
            if not isinstance(found, Endpoint):
                return found
            seeds = await cutter.close(counted=limits.tokens is not None)
        return Planned(plan=sorting.plan(run, len(seeds)), seeds=seeds, endpoint=found)

    async def _sort(
        self, job: Job, run: int, alias: Alias, sorting: "_Sorting"
    ) -> Endpoint | Claimed | Unrunnable:
        """Every input to its place, and all files but the chunks'; the endpoint they ask for."""
        paths, traits = JobPaths(job.tenant, job.id), sorting.provider.traits
        spec = await load_spec(self.blobs, job)
        reading = await self._reading(job, alias, spec, sorting.provider)
        try:
            await self._read_all(job, run, reading, sorting)
            reading.close()
            sorting.oversizes.close()
            check_endpoint(reading.endpoint, traits, job.deployment, job.model)
        except Refused as refusal:
            return Unrunnable(refusal=refusal, inputs=reading.count)
        if (other := await self._claimed(job, sorting)) is not None:
            return Claimed(by=other)
        await self._answer_reused(sorting)
        await self._write_decided(paths, run, sorting)
        await self._write_repeats(paths, run, sorting)
        return reading.endpoint

    async def _claimed(self, job: Job, sorting: "_Sorting") -> Job | None:
        """An unfinished job that buys some of the same. Who buys nothing any more waits for nobody."""
        if job.is_cancelling:
            return None
        for other in sorting.answered.unfinished:
            if await self.earlier.claims_any(other, sorting.places):
                return other
        return None

    async def _reading(
        self, job: Job, alias: Alias, spec: JobSpec, provider: BatchProvider
    ) -> Reading | DroppedReading:
        if job.source.kind is SourceKind.DOCUMENTS:
            return DroppedReading(job, alias, spec, self.blobs, self.extractor)
        texts = Texts(
            blobs=self.blobs, extractor=self.extractor, tenant=job.tenant, etags=await self._etags(job)
        )
        return Reading(job.source.kind, expected_for(job, alias, spec, provider), spec, texts)

    async def _read_all(
        self, job: Job, run: int, reading: Reading | DroppedReading, sorting: "_Sorting"
    ) -> None:
        paths, limits = JobPaths(job.tenant, job.id), sorting.provider.traits.limits
        pieces, pause = ahead(self.blobs.read(job.source.path)), Pause()
        dropped = job.source.kind is SourceKind.DOCUMENTS
        noting = Outlet(self.blobs, paths.facts(run)) if dropped else nullcontext()
        async with Outlet(self.blobs, paths.index(run)) as index, noting as facts:
            async for lines in split(pieces, max_line_bytes=limits.line_bytes):
                async for handful in reading.read(lines):
                    sorting.set_endpoint(reading.endpoint)
                    counts = await self._count(job, handful, limits)
                    for read, tokens in zip(handful, counts, strict=True):
                        key = await sorting.sort(read, tokens, sound=reading.is_sound)
                        await index.write(line(IndexLine(id=read.custom_id, k=key)))
                        if facts is not None:
                            await facts.write(facts_line(read.facts or FactsLine()))
                        await pause()

    async def _count(self, job: Job, handful: list[Read], limits: Limits) -> list[int | None]:
        """Tokens of each, if the deployment has a quota to keep to."""
        if limits.tokens is None:
            return [None] * len(handful)
        texts = [prompt_text(read.body or {}) for read in handful]
        counts = await asyncio.to_thread(self.tokens.count, job.model, texts)
        return list(counts)

    async def _etags(self, job: Job) -> Mapping[str, str]:
        if job.source.kind is not SourceKind.INPUTS:
            return {}
        etags: dict[str, str] = {}
        try:
            async for handful in own_lines(self.blobs, JobPaths(job.tenant, job.id).references):
                for content in handful:
                    path, etag = msgspec.json.decode(content, type=tuple[str, str])
                    etags[path] = etag
        except NotFound:
            pass
        return etags

    async def _answer_reused(self, sorting: "_Sorting") -> None:
        for place, before in enumerate(sorting.answered.jobs):
            left = sorting.reused[place]
            if not left:
                continue
            async for key, settled in self.earlier.lines(before):
                left -= sorting.reuse(key, settled, place)
            if left:
                # Erased between our two looks. The next look will not find that job at all.
                raise TryAgainLater(f"job {before.id} was erased while its answers were being reused")

    async def _write_decided(self, paths: JobPaths, run: int, sorting: "_Sorting") -> None:
        pause = Pause()
        async with Outlet(self.blobs, paths.decided(run)) as outlet:
            for position, place in enumerate(sorting.decided):
                if place:
                    settled = results.at_position(sorting.spool.get(place - 1), position)
                    await outlet.write(settled + b"\n")
                await pause()

    async def _write_repeats(self, paths: JobPaths, run: int, sorting: "_Sorting") -> None:
        if not sorting.repeats:
            return
        async with Outlet(self.blobs, paths.repeats(run)) as outlet:
            for first, others in sorted(sorting.repeats.items()):
                await outlet.write(line(Repeat(first, list(others))))


@dataclass(slots=True)
class _Sorting:
    """Decides for each input: sent, a repeat of one that is sent, answered before, or decided already.

    `places` maps every key to the first position that asks for it, `reused` counts the keys that an earlier
    job has answered, by the job's place. `decided` holds by position one more than the place in the spool,
    0 for an input that is sent.
    """

    job: Job
    answered: Answered
    cutter: Cutter
    spool: Spool
    provider: BatchProvider
    places: ByKey = field(default_factory=ByKey)
    repeats: dict[int, array[int]] = field(default_factory=dict)
    reused: Counter[int] = field(default_factory=Counter)
    decided: array[int] = field(default_factory=lambda: array("Q"))
    oversizes: Oversizes = field(default_factory=Oversizes)
    _tally: dict[Verdict, int] = field(default_factory=dict)
    _keys: KeyMaker | None = None
    _endpoint: Endpoint = Endpoint.CHAT
    _inputs: int = 0
    _sent: int = 0
    _reused_inputs: int = 0
    _decided_keys: int = 0

    def set_endpoint(self, endpoint: Endpoint) -> None:
        """Before the first input; the endpoint is part of every key."""
        if self._keys is None:
            job = self.job
            self._keys = KeyMaker(
                tenant=job.tenant, run_id=job.run_id, endpoint=endpoint, model=f"{job.provider}:{job.model}"
            )
            self._endpoint = endpoint

    async def sort(self, read: Read, tokens: int | None, *, sound: bool) -> str:
        """The input's key. When the input as a whole is not sound, nothing more is written of it."""
        self._inputs += 1
        if read.body is None or self._keys is None:
            return self._decide(read)
        body = canonical(read.body)
        key = self._keys.key(body, salt="" if self.job.dedupe else str(read.position))
        if self.job.source.kind is SourceKind.DOCUMENTS and (long := self._too_long(read, key, tokens)):
            # One long document is no reason to refuse all the others that were gathered with it.
            return self._decide(replace(read, body=None, decided=long))
        first = self.places.first(key, read.position)
        if first != read.position:
            self.repeats.setdefault(first, array("L")).append(read.position)
        elif (place := self.answered.by_key.find(key)) is not None:
            self.reused[place] += 1
        elif sound:
            await self._send(read, key, tokens)
        return key

    def _too_long(self, read: Read, key: RequestKey, tokens: int | None) -> Judgement | None:
        content = self.provider.write_line(key, self._endpoint, read.body or {})
        error = oversize(read.line, len(content), tokens, self.provider.traits.limits)
        if error is None:
            return None
        message = f"the request {error.message}"
        return Judgement(outcome=Outcome.FAILED, reason="context_length_exceeded", message=message)

    async def _send(self, read: Read, key: RequestKey, tokens: int | None) -> None:
        content = self.provider.write_line(key, self._endpoint, read.body or {})
        limits = self.provider.traits.limits
        if self.oversizes.note(oversize(read.line, len(content), tokens, limits)):
            return
        self._sent += 1
        more = vectors_of(read.body or {}) - 1 if self._endpoint is Endpoint.EMBEDDINGS else 0
        await self.cutter.add(Member(k=key, p=read.position, t=tokens, v=more), content)

    def _decide(self, read: Read) -> str:
        key = RequestKey(f"input-{read.position}")
        judgement = read.decided or Judgement(outcome=Outcome.FAILED, reason="unreadable")
        settled = results.settled_line(
            position=read.position,
            key=key,
            judgement=judgement,
            response=None,
            usage=None,
            spend=None,
            provider=None,
            model=None,
            attempts=0,
        )
        self._decided_keys += 1
        self._settle([read.position], settled, (judgement.outcome, judgement.reason))
        return key

    def reuse(self, key: str, settled: bytes, place: int) -> bool:
        """Answer every input that asks for this key with what the earlier job at `place` got.

        False, and nothing is done, where nobody asks, another job's answer is better, or it is done already.
        """
        first = self.places.find(key)
        if first is None or self.answered.by_key.find(key) != place or self._is_decided(first):
            return False
        positions = [first, *self.repeats.pop(first, ())]
        self._reused_inputs += len(positions)
        self._settle(positions, results.repeated(settled), results.verdict(settled))
        return True

    def _is_decided(self, position: int) -> bool:
        return position < len(self.decided) and self.decided[position] > 0

    def _settle(self, positions: list[int], settled: bytes, verdict: Verdict) -> None:
        place = self.spool.add(settled)
        missing = max(positions) + 1 - len(self.decided)
        self.decided.frombytes(bytes(8 * max(missing, 0)))
        for position in positions:
            self.decided[position] = place + 1
        self._tally[verdict] = self._tally.get(verdict, 0) + len(positions)

    def plan(self, run: int, chunks: int) -> Plan:
        return Plan(
            submitted=self._inputs,
            unique=len(self.places) + self._decided_keys,
            reused=self._reused_inputs,
            chunks=chunks,
            rounds=(run,),
            tally=Tally.of(self._tally.items()),
        )

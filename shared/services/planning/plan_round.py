"""Plan what has to be sent next: the first round from the input, a further one from what is left over.

files of the round -> the job record (the commit) -> the chunk records. Before the commit nobody reads the
files; after it, missing chunk records are made good from them.
"""

import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import msgspec

from shared.domain.catalog import Catalog
from shared.domain.chunks import Chunk
from shared.domain.errors import Conflict, PosternError, Superseded, TryAgainLater
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import INVALID_INPUT, NO_DEPLOYMENT, Job, JobEvent, Plan, event_of_progress, in_step
from shared.domain.outcomes import Outcome, Tally
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.providers import BatchProvider, Providers
from shared.services.announce import Notice
from shared.services.door.file_alias import why_unaddressed
from shared.services.jobs.amend_job import amend_job
from shared.services.jobs.heart import Heart
from shared.services.planning.cutter import Cutter
from shared.services.planning.first_round import Claimed, PlanFirstRound, Unrunnable
from shared.services.policy import Policy
from shared.services.streams import one_piece, own_lines, whole
from shared.stores.jobs import Chunks, Jobs
from shared.wire.members import ChunkSeed, Member, read_member, read_seeds, write_seeds
from shared.wire.paths import JobPaths
from shared.wire.problems import InputErrors, LineError, Refused, stored_error

log = logging.getLogger(__name__)

MAX_SEEDS: Final = 4 * 1024 * 1024
SAME_RUN: Final = "same_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """`chunks`: the numbers of those still open. Empty, and no `wait`: nothing is left to send."""

    chunks: list[int] = field(default_factory=list)
    wait: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRound:
    jobs: Jobs
    chunks: Chunks
    blobs: Blobs
    catalog: CatalogSource
    providers: Providers
    heart: Heart
    clock: Clock
    notice: Notice
    policy: Policy
    first: PlanFirstRound

    async def __call__(self, tenant: TenantId, job_id: JobId, run: int) -> Round:
        """Safe to repeat. Raise `Superseded` when another run drives the job."""
        async with self.heart.beating(job_id, run):
            try:
                answer = await self._plan(tenant, job_id, run)
            except (TryAgainLater, Conflict) as later:
                log.warning("plan.postponed", extra={"job_id": job_id, "why": str(later)})
                answer = Round(wait=self.policy.hiccup)
            except Superseded:
                raise
            except PosternError as error:
                await self.notice.step_failing(job_id, tenant, "planning", error, self.clock.now())
                answer = Round(wait=self.policy.poll)
        await self.heart.beat(job_id, run, next_in=answer.wait or timedelta(0))
        return answer

    async def _plan(self, tenant: TenantId, job_id: JobId, run: int) -> Round:
        job = (await self.jobs.load(tenant, job_id)).value
        if job.is_finished:
            return Round()
        if job.plan is None:
            if await self._is_held(job):
                return Round(wait=self.policy.poll)
            planned = await self._plan_first(job, run)
            if isinstance(planned, Round):
                return planned
            job = planned
        chunks = await self._chunks(job)
        if not any(not c.is_done for c in chunks) and _left_over(job, chunks):
            job = await self._plan_further(job, run, chunks)
            chunks = await self._chunks(job)
        await self._show(job, chunks)
        return Round(chunks=[c.n for c in chunks if not c.is_done])

    async def _show(self, job: Job, chunks: list[Chunk]) -> None:
        event, now = event_of_progress(chunks), self.clock.now()
        await amend_job(self.jobs, job.tenant, job.id, lambda j: in_step(j, event, now))

    # The first round

    async def _plan_first(self, job: Job, run: int) -> Job | Round:
        job = await self._amend_unplanned(job, lambda j: j.after(JobEvent.PLAN))
        catalog = await self.catalog.current()
        if job.deployment == NO_DEPLOYMENT:
            refusal = await why_unaddressed(self.blobs, job, catalog)
            return await self._refuse(job, Unrunnable(refusal=refusal, inputs=0))
        provider = await self._provider(catalog, job)
        planned = await self.first(job, run, catalog.alias(job.alias), provider)
        if isinstance(planned, Unrunnable):
            return await self._refuse(job, planned)
        if isinstance(planned, Claimed):
            return await self._hold(job, planned.by)
        await self._write_round(job, 1, run, planned.seeds)
        endpoint, plan, now = planned.endpoint, planned.plan, self.clock.now()
        await self.heart.check(job.id, run)

        def plan_it(unplanned: Job) -> Job:
            return replace(unplanned, plan=plan, planned_at=now, endpoint=endpoint, reason=None, held_by=None)

        return await self._amend_unplanned(job, plan_it)

    async def _amend_unplanned(self, job: Job, change: Callable[[Job], Job]) -> Job:
        """The first plan stands: chunks may have been cut by it since we looked."""
        return await amend_job(self.jobs, job.tenant, job.id, lambda j: change(j) if j.plan is None else j)

    async def _hold(self, job: Job, other: Job) -> Round:
        """Another job of the run buys some of the same answers first; they will be taken from there.

        As long as that is certain, the input is not read again. What an unplanned job will buy is not.
        """
        by = other.id if other.plan is not None else None
        await self._amend_unplanned(
            job, lambda j: replace(j.after(JobEvent.HOLD), reason=SAME_RUN, held_by=by)
        )
        return Round(wait=self.policy.poll)

    async def _is_held(self, job: Job) -> bool:
        if job.held_by is None or job.is_cancelling:
            return False
        other = await self.jobs.find(job.tenant, job.held_by)
        return other is not None and not other.value.is_finished

    async def _refuse(self, job: Job, found: Unrunnable) -> Round:
        """The input cannot be run: every input of it has failed, and the errors say why."""
        errors = _errors_of(found.refusal)
        document = msgspec.json.encode([stored_error(e) for e in errors])
        await self.blobs.write(JobPaths(job.tenant, job.id).errors, one_piece(document))
        tally = Tally.of([((Outcome.FAILED, "invalid_request"), found.inputs)])
        plan = Plan(submitted=found.inputs, unique=0, reused=0, chunks=0, rounds=(), tally=tally)
        await self._amend_unplanned(job, lambda j: replace(j, plan=plan, reason=INVALID_INPUT))
        return Round()

    # A further round

    async def _plan_further(self, job: Job, run: int, chunks: list[Chunk]) -> Job:
        plan = _plan_of(job)
        number = len(plan.rounds) + 1
        provider = await self._provider(await self.catalog.current(), job)
        cutter = Cutter(
            blobs=self.blobs,
            paths=JobPaths(job.tenant, job.id),
            run=run,
            limits=provider.traits.limits,
            next_n=plan.chunks,
        )
        async with cutter:
            for chunk in _of_last_round(job, chunks):
                await self._hand_on(job, chunk, cutter)
            seeds = await cutter.close(counted=provider.traits.limits.tokens is not None)
        await self._write_round(job, number, run, seeds)
        further = replace(plan, rounds=(*plan.rounds, run), chunks=plan.chunks + len(seeds))
        await self.heart.check(job.id, run)
        return await amend_job(
            self.jobs, job.tenant, job.id, lambda j: replace(j, plan=further) if j.plan == plan else j
        )

    async def _hand_on(self, job: Job, chunk: Chunk, cutter: Cutter) -> None:
        """Feed what the chunk hands on to the cutter, line for line as it was sent before."""
        if chunk.settlement is None or not chunk.settlement.again:
            return
        paths = JobPaths(job.tenant, job.id)
        again = {m.k: m async for m in self._members(paths.again(chunk.n))}
        sent = self._members(paths.members(chunk.n, chunk.planned_by))
        async for handful in own_lines(self.blobs, paths.chunk(chunk.n, chunk.planned_by)):
            for content in handful:
                member = await anext(sent)
                if (left := again.get(member.k)) is not None:
                    await cutter.add(
                        Member(k=left.k, p=left.p, t=member.t, v=member.v, spent=left.spent), content + b"\n"
                    )

    async def _members(self, path: str) -> AsyncIterator[Member]:
        async for handful in own_lines(self.blobs, path):
            for content in handful:
                yield read_member(content)

    # The commit

    async def _write_round(self, job: Job, number: int, run: int, seeds: list[ChunkSeed]) -> None:
        path = JobPaths(job.tenant, job.id).round(number, run)
        await self.blobs.write(path, one_piece(write_seeds(seeds)), content_type="application/json")

    async def _chunks(self, job: Job) -> list[Chunk]:
        """All chunk records of the job; those of the last round are made if they are not there yet."""
        plan, chunks = _plan_of(job), await self.chunks.of(job.id)
        if len(chunks) >= plan.chunks or not plan.rounds:
            return chunks
        number, run = len(plan.rounds), plan.rounds[-1]
        path = JobPaths(job.tenant, job.id).round(number, run)
        known = {c.n for c in chunks}
        for seed in read_seeds(await whole(self.blobs, path, limit=MAX_SEEDS)):
            if seed.n not in known:
                with contextlib.suppress(Conflict):
                    await self.chunks.add(_chunk(job, seed, attempt=number, run=run))
        return await self.chunks.of(job.id)

    async def _provider(self, catalog: Catalog, job: Job) -> BatchProvider:
        deployment = catalog.deployment(job.deployment)
        await self.providers.prepare(deployment)
        return self.providers.batch(deployment)


def _chunk(job: Job, seed: ChunkSeed, *, attempt: int, run: int) -> Chunk:
    return Chunk(
        job_id=job.id,
        n=seed.n,
        attempt=attempt,
        planned_by=run,
        deployment=job.deployment,
        provider=job.provider,
        requests=seed.requests,
        bytes=seed.bytes,
        tokens=seed.tokens,
        first=seed.first,
    )


def _plan_of(job: Job) -> Plan:
    if job.plan is None:
        raise TryAgainLater(f"job {job.id} is not planned yet")
    return job.plan


def _of_last_round(job: Job, chunks: list[Chunk]) -> list[Chunk]:
    return [c for c in chunks if c.attempt == len(_plan_of(job).rounds)]


def _left_over(job: Job, chunks: list[Chunk]) -> int:
    """How many requests the last round hands on."""
    return sum(c.settlement.again for c in _of_last_round(job, chunks) if c.settlement)


def _errors_of(refusal: Refused) -> list[LineError]:
    if isinstance(refusal, InputErrors):
        return list(refusal.errors)
    return [LineError(line=None, field=None, message=str(refusal))]

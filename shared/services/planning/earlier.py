"""What earlier jobs of the same run have answered already, and what they are still waiting for."""

from collections.abc import AsyncIterator, Container
from dataclasses import dataclass, field

from shared.domain.errors import NotFound
from shared.domain.ids import JobId
from shared.domain.jobs import Job
from shared.domain.outcomes import Outcome, is_final
from shared.ports.blobs import Blobs
from shared.services.planning.by_key import ByKey
from shared.services.streams import own_lines
from shared.stores.jobs import Chunks, Jobs
from shared.stores.runs import Runs
from shared.wire.members import read_index_line
from shared.wire.paths import JobPaths
from shared.wire.results import head, verdict


@dataclass(slots=True)
class Answered:
    """Which key is answered best by which job (by its place in `jobs`)."""

    jobs: list[Job] = field(default_factory=list)
    unfinished: list[Job] = field(default_factory=list)
    by_key: ByKey = field(default_factory=ByKey)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    jobs: Jobs
    chunks: Chunks
    runs: Runs
    blobs: Blobs

    async def answers(self, job: Job) -> Answered:
        """Enter the run, and read what the jobs before this one have settled for good.

        The newest answer counts, but a success is never replaced by anything else.
        """
        answered = Answered()
        if not job.dedupe or job.run_id == job.id:
            return answered
        earlier = await self.runs.join(job.tenant, job.run_id, job.id)
        # A retry has entered the run, so that later jobs find its answers; itself it buys all of its own.
        for before in [] if job.fresh else earlier:
            await self._add(job, before, answered)
        return answered

    async def _add(self, job: Job, before: JobId, answered: Answered) -> None:
        found = await self.jobs.find(job.tenant, before)
        if found is None or found.value.erased_at:
            return
        if not found.value.is_finished:
            answered.unfinished.append(found.value)
            return
        place = len(answered.jobs)
        answered.jobs.append(found.value)
        async for settled in self._settled(found.value):
            (outcome, reason), (_, key) = verdict(settled), head(settled)
            better = outcome is Outcome.SUCCEEDED or key not in answered.by_key
            if better and is_final(outcome, reason):
                answered.by_key.put(key, place)

    async def lines(self, job: Job) -> AsyncIterator[tuple[str, bytes]]:
        """The settled lines of one job, each with its key. Equal requests have one each."""
        async for settled in self._settled(job):
            yield head(settled)[1], settled

    async def claims_any(self, job: Job, keys: Container[str]) -> bool:
        """Whether an unfinished job has bought, or is going to buy, any of these. Unplanned: assume it."""
        if job.plan is None:
            return True
        if not job.plan.rounds:
            return False  # its input was refused
        paths = JobPaths(job.tenant, job.id)
        async for handful in own_lines(self.blobs, paths.index(job.plan.rounds[0])):
            if any(read_index_line(content).k in keys for content in handful):
                return True
        return False

    async def _settled(self, job: Job) -> AsyncIterator[bytes]:
        if job.plan is None or not job.plan.rounds:
            return
        paths = JobPaths(job.tenant, job.id)
        files = [paths.decided(job.plan.rounds[0])]
        files += [paths.settled(chunk.n) for chunk in await self.chunks.of(job.id)]
        for path in files:
            try:
                async for handful in own_lines(self.blobs, path):
                    for content in handful:
                        yield content
            except NotFound:
                continue

"""Which jobs share a run, in one agreed order: who came first buys, who came later waits."""

import hashlib
from typing import Final

from shared.domain.errors import Conflict
from shared.domain.ids import JobId, TenantId
from shared.ports.tables import Tables
from shared.wire.problems import Unusable

RUNS: Final = "runs"
SCHEMA: Final = "run/1"
# A run is one night's or one campaign's work; a run id that is never changed would make every plan slower.
MAX_JOBS: Final = 2_000


def _partition(tenant: TenantId, run_id: str) -> str:
    return f"{tenant}|{hashlib.sha256(run_id.encode()).hexdigest()[:32]}"


class Runs:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def join(self, tenant: TenantId, run_id: str, job: JobId) -> list[JobId]:
        """Enter the job into its run, once; return the jobs that entered before it, oldest first.

        Raise `Unusable` when the run is full.

        A place is taken by inserting the next number, so whoever holds a number knows all lower ones.
        """
        partition = _partition(tenant, run_id)
        while True:
            members = [
                JobId(str(entity.fields["job_id"])) async for entity in self._tables.scan(RUNS, partition)
            ]
            if job in members:
                return members[: members.index(job)]
            if len(members) >= MAX_JOBS:
                raise Unusable(f"run_id {run_id[:64]!r} has {MAX_JOBS} jobs already; use a new run_id")
            try:
                fields = {"schema": SCHEMA, "job_id": job}
                await self._tables.insert(RUNS, partition, f"{len(members):08d}", fields)
            except Conflict:
                continue
            return members

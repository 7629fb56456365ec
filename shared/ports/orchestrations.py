"""The durable engine, as far as a use case may know it."""

from typing import Protocol

from shared.domain.ids import JobId, TenantId


class Orchestrations(Protocol):
    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        """Start the orchestration of this job's `run`-th life. One that exists already is success.

        Raise `TryAgainLater` if the engine does not answer.
        """
        ...

    async def forget_finished(self) -> None:
        """Let the engine drop what has ended: the records are the truth, and its memory is not free."""
        ...

    async def wake(self, job_id: JobId, run: int) -> None:
        """End its present wait, if it is waiting. An orchestration that is gone is no error."""
        ...

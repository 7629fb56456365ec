"""The durable engine's client, as the use cases know it. Lives as long as one invocation."""

import logging
from typing import Final

import azure.durable_functions as df
import grpc
from durabletask.client import OrchestrationStatus

from shared.domain.errors import TryAgainLater
from shared.domain.ids import JobId, TenantId
from shared.domain.pulses import FLOW

log = logging.getLogger(__name__)

ORCHESTRATOR: Final = "run_job"
WAKE: Final = "wake"
ENDED: Final = [OrchestrationStatus.COMPLETED, OrchestrationStatus.FAILED, OrchestrationStatus.TERMINATED]


def instance_id(job_id: JobId, run: int) -> str:
    """Of the safe alphabet that every backend takes. Each run of a job is an instance of its own."""
    return f"{job_id}-r{run}"


class DurableOrchestrations:
    def __init__(self, client: df.DurableFunctionsClient) -> None:
        self._client = client

    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        identity, given = instance_id(job_id, run), {"tenant": tenant, "job_id": job_id, "run": run}
        try:
            # A host of an older version leaves it alone, as host.json says.
            await self._client.schedule_new_orchestration(
                ORCHESTRATOR, input=given, instance_id=identity, version=str(FLOW)
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.ALREADY_EXISTS:
                return
            raise TryAgainLater(
                f"the durable engine did not start {identity}: {error.code().name}"
            ) from error

    async def forget_finished(self) -> None:
        try:
            await self._client.purge_orchestrations_by(runtime_status=ENDED)
        except grpc.aio.AioRpcError as error:
            raise TryAgainLater(f"the durable engine did not purge: {error.code().name}") from error

    async def wake(self, job_id: JobId, run: int) -> None:
        try:
            await self._client.raise_orchestration_event(instance_id(job_id, run), WAKE)
        except grpc.aio.AioRpcError as error:
            # The flag in the record is the truth; without this event the next poll finds it.
            log.info("job.not_woken", extra={"job_id": job_id, "why": error.code().name})

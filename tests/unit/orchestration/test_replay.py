"""A history that one version has begun, replayed by the next, in Microsoft's own engine and worker."""

import socket
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from durabletask.client import OrchestrationStatus, TaskHubGrpcClient
from durabletask.task import ActivityContext, OrchestrationContext
from durabletask.testing import create_test_backend
from durabletask.worker import TaskHubGrpcWorker

from shared.adapters.azure.orchestrations import ORCHESTRATOR
from shared.domain.pulses import FLOW
from shared.orchestration import job as orchestration
from shared.triggers.batch import RuntimeContext

JOB = {"tenant": "support", "job_id": "job_1", "run": 1}
INSTANCE = "job_1-r1"
PATIENCE = 60.0
Steps = Generator[Any, Any, Any]
Orchestrator = Callable[[OrchestrationContext, Any], Steps]


def the_same(context: OrchestrationContext, job: Any) -> Steps:
    return (yield from orchestration.run_job(RuntimeContext(context), job))


def another(context: OrchestrationContext, job: Any) -> Steps:
    """As a version would be that waits for a moment first and has kept its number."""
    yield context.create_timer(timedelta(milliseconds=100))
    return (yield from orchestration.run_job(RuntimeContext(context), job))


class Activities:
    """One chunk, which is looked at twice; the second look is an hour away unless somebody wakes it."""

    def __init__(self) -> None:
        self.looks = 0

    def plan_round(self, _: ActivityContext, job: Any) -> Any:
        return {"chunks": [0] if self.looks < 2 else []}

    def advance_chunk(self, _: ActivityContext, job: Any) -> Any:
        self.looks += 1
        return {"done": self.looks == 2, "wait_seconds": 3600}

    def finish_job(self, _: ActivityContext, job: Any) -> Any:
        return {}


class Hub:
    """The engine on a port of its own."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.backend = create_test_backend(port=port)
        self.address = f"127.0.0.1:{port}"

    def is_asleep(self) -> bool:
        """Whether the history ends where the orchestration waits for its timer."""
        instance = self.backend._instances.get(INSTANCE)
        return instance is not None and any(
            e.WhichOneof("eventType") == "timerCreated"  # type: ignore[no-untyped-call]
            for e in instance.history
        )


@pytest.fixture
def hub() -> Iterator[Hub]:
    hub = Hub()
    yield hub
    hub.backend.stop()


@contextmanager
def serving(hub: Hub, orchestrator: Orchestrator, activities: Activities) -> Iterator[None]:
    with TaskHubGrpcWorker(host_address=hub.address) as worker:
        worker._registry.add_named_orchestrator(ORCHESTRATOR, orchestrator)
        for activity in (activities.plan_round, activities.advance_chunk, activities.finish_job):
            worker._registry.add_named_activity(activity.__name__, activity)
        worker.start()  # type: ignore[no-untyped-call]
        yield


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("following", "end"),
    [(the_same, OrchestrationStatus.COMPLETED), (another, OrchestrationStatus.FAILED)],
    ids=["the same", "another under the same number"],
)
def test_the_next_version_goes_on_or_fails_and_never_goes_astray(
    hub: Hub, following: Orchestrator, end: OrchestrationStatus
) -> None:
    client, activities = TaskHubGrpcClient(host_address=hub.address), Activities()
    with serving(hub, the_same, activities):
        client.schedule_new_orchestration(ORCHESTRATOR, input=JOB, instance_id=INSTANCE, version=str(FLOW))
        wait_for(hub.is_asleep)

    with serving(hub, following, activities):
        client.raise_orchestration_event(INSTANCE, orchestration.WAKE)
        found = client.wait_for_orchestration_completion(INSTANCE, timeout=int(PATIENCE))
    client.close()

    assert found is not None
    assert found.runtime_status is end
    # What fails is started anew by the sweep; it has done nothing on the way there.
    assert activities.looks == (2 if end is OrchestrationStatus.COMPLETED else 1)
    if end is OrchestrationStatus.FAILED:
        assert found.failure_details is not None
        assert "NonDeterminismError" in found.failure_details.error_type

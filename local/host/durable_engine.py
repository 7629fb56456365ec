"""Microsoft's in-memory task hub, with what it lacks for a stack that stays up.

The stock engine is made for short tests: it listens on every interface, keeps a thread asleep per timer,
forgets a sub-orchestration after thirty seconds, and delivers a timer or a result that belongs to an
execution that has ended to the one that followed it under the same id. Production does none of that.
State is in memory: when the process ends, every orchestration is gone.
"""

# mypy: disable-error-code=no-untyped-call
# The generated gRPC and protobuf classes carry no types.

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NoReturn

import durabletask.internal.orchestrator_service_pb2 as pb
import durabletask.internal.orchestrator_service_pb2_grpc as stubs
import grpc
from durabletask.internal import helpers
from durabletask.testing.in_memory_backend import InMemoryOrchestrationBackend, OrchestrationInstance

log = logging.getLogger(__name__)

# A client that waits for an orchestration occupies a thread while it waits.
_RPC_THREADS = 64
_MAX_HISTORY_EVENTS = 100_000


class _LocalCall:
    """Stands for the gRPC context when the host itself calls the engine."""

    def __init__(self) -> None:
        self.active = True

    def is_active(self) -> bool:
        return self.active

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        raise RuntimeError(f"{code.name}: {details}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parent:
    """Who waits for a sub-orchestration."""

    instance: OrchestrationInstance
    execution: pb.HistoryEvent
    task_id: int


class Engine(InMemoryOrchestrationBackend):
    """The task hub. Its methods may be called from any thread; timers live on `loop`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(max_history_size=_MAX_HISTORY_EVENTS)
        self._loop = loop
        self._call = _LocalCall()
        self._scheduled: dict[tuple[str, str, int], pb.HistoryEvent] = {}
        self._parents: dict[str, _Parent] = {}

    def serve(self) -> int:
        """Listen for durable clients on a free loopback port, and return it."""
        server = grpc.server(
            futures.ThreadPoolExecutor(_RPC_THREADS, thread_name_prefix="durable"),
            options=[("grpc.so_reuseport", 0)],
        )
        stubs.add_TaskHubSidecarServiceServicer_to_server(self, server)
        port: int = server.add_insecure_port("127.0.0.1:0")
        server.start()
        self._server = server
        return port

    def shut_down(self) -> None:
        """End the stream of work and the server, without waiting for callers."""
        self._call.active = False
        self.stop(grace=0)

    def work(self) -> Iterator[pb.WorkItem]:
        """Work items as they become due; ends after `shut_down`. Blocks: read it on a thread of its own."""
        return self.GetWorkItems(pb.GetWorkItemsRequest(), self._call)  # type: ignore[arg-type]

    def finish_orchestrator(self, response: pb.OrchestratorResponse) -> None:
        self.CompleteOrchestratorTask(response, self._call)  # type: ignore[arg-type]

    def finish_entity(self, result: pb.EntityBatchResult) -> None:
        self.CompleteEntityTask(result, self._call)  # type: ignore[arg-type]

    def finish_activity(self, response: pb.ActivityResponse) -> None:
        """Deliver a result, unless the execution that asked for it is over."""
        key = (response.instanceId, response.completionToken, response.taskId)
        with self._lock:
            execution = self._scheduled.pop(key, None)
            instance = self._instances.get(response.instanceId)
            if execution is None or instance is None or not self._is_current(instance, execution):
                log.info("activity.result_unwanted %s", response.instanceId)
                return
            self.CompleteActivityTask(response, self._call)  # type: ignore[arg-type]

    def _is_current(self, instance: OrchestrationInstance, execution: pb.HistoryEvent) -> bool:
        """Whether `execution` is what runs under the instance's id now."""
        return (
            self._instances.get(instance.instance_id) is instance
            and not self._is_terminal_status(instance.status)
            and _execution_of(instance) is execution
        )

    def _process_schedule_task_action(
        self, instance: OrchestrationInstance, action: pb.OrchestratorAction
    ) -> None:
        super()._process_schedule_task_action(instance, action)
        key = (instance.instance_id, str(instance.completion_token), action.id)
        self._scheduled[key] = _execution_of(instance)

    def _process_create_timer_action(
        self, instance: OrchestrationInstance, action: pb.OrchestratorAction
    ) -> None:
        fire_at = action.createTimer.fireAt.ToDatetime(tzinfo=UTC)
        instance.history.append(helpers.new_timer_created_event(action.id, fire_at))
        execution = _execution_of(instance)

        def fire() -> None:
            with self._lock:
                if self._is_current(instance, execution):
                    self._deliver(instance, helpers.new_timer_fired_event(action.id, fire_at))

        delay = max(0.0, (fire_at - datetime.now(UTC)).total_seconds())
        self._on_loop(lambda: self._loop.call_later(delay, fire))

    def _watch_sub_orchestration(self, parent_instance_id: str, sub_instance_id: str, task_id: int) -> None:
        instance = self._instances[parent_instance_id]
        self._parents[sub_instance_id] = _Parent(
            instance=instance, execution=_execution_of(instance), task_id=task_id
        )

    def _notify_waiters(self, instance_id: str) -> None:
        super()._notify_waiters(instance_id)
        instance = self._instances.get(instance_id)
        if instance is not None and self._is_terminal_status(instance.status):
            parent = self._parents.pop(instance_id, None)
            if parent is not None and self._is_current(parent.instance, parent.execution):
                self._deliver(parent.instance, _sub_orchestration_ended(instance, parent.task_id))

    def _deliver(self, instance: OrchestrationInstance, event: pb.HistoryEvent) -> None:
        instance.pending_events.append(event)
        instance.last_updated_at = datetime.now(UTC)
        if instance.status != pb.ORCHESTRATION_STATUS_SUSPENDED:
            self._enqueue_orchestration(instance.instance_id)

    def _on_loop(self, callback: Callable[[], object]) -> None:
        # The loop may have closed while the last replies came in.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback)


def _execution_of(instance: OrchestrationInstance) -> pb.HistoryEvent:
    """The event that began the running execution: its identity, as continue-as-new makes a new one."""
    return next(event for event in instance.history if event.HasField("executionStarted"))


def _sub_orchestration_ended(instance: OrchestrationInstance, task_id: int) -> pb.HistoryEvent:
    if instance.status == pb.ORCHESTRATION_STATUS_COMPLETED:
        return helpers.new_sub_orchestration_completed_event(task_id, instance.output)
    details = instance.failure_details
    text = details.errorMessage if details is not None else "the sub-orchestration was terminated"
    return helpers.new_sub_orchestration_failed_event(task_id, RuntimeError(text))

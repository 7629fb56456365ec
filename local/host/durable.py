"""Durable triggers and the durable client binding: carries work from the engine to the worker and back."""

# mypy: disable-error-code=no-untyped-call
# The generated gRPC and protobuf classes carry no types.

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable

import durabletask.internal.orchestrator_service_pb2 as pb
from aiohttp import web
from durabletask.internal import helpers

from local.host.configuration import Configuration
from local.host.durable_engine import Engine
from local.host.functions import Binding, Function
from local.host.invoker import Invoker
from local.host.messages import TypedData
from local.host.worker import InvocationFailed

log = logging.getLogger(__name__)

ORCHESTRATION, ACTIVITY, ENTITY = "orchestrationTrigger", "activityTrigger", "entityTrigger"
# Where the decorator's own name for a function stands in its binding.
_NAME_KEYS = {ORCHESTRATION: "orchestration", ACTIVITY: "activity", ENTITY: "entityName"}


class DurableHub:
    """The engine and the address of it that functions with a durable client are given."""

    def __init__(self) -> None:
        self.engine = Engine(asyncio.get_running_loop())
        self._port = self.engine.serve()

    def client_binding(self, _: Binding) -> TypedData:
        return TypedData(
            string=json.dumps(
                {
                    "taskHubName": "local",
                    "connectionName": "AzureWebJobsStorage",
                    "rpcBaseUrl": f"http://127.0.0.1:{self._port}",
                    "requiredQueryStringParameters": "",
                }
            )
        )


class DurableTrigger:
    """Orchestrators, activities and entities. Activities run side by side, up to the configured number."""

    types = frozenset(_NAME_KEYS)

    def __init__(self, *, hub: DurableHub, configuration: Configuration, invoker: Invoker) -> None:
        self._engine = hub.engine
        self._invoker = invoker
        self._functions: dict[tuple[str, str], Function] = {}
        self._activity_slots = asyncio.Semaphore(configuration.concurrent_activities)
        self._orchestration_slots = asyncio.Semaphore(configuration.concurrent_orchestrations)
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    def bind(self, function: Function) -> None:
        trigger = function.trigger
        name = trigger.get(_NAME_KEYS[trigger["type"]]) or function.name
        self._functions[trigger["type"], name.lower()] = function

    def routes(self) -> Iterable[web.RouteDef]:
        return ()

    async def start(self) -> None:
        threading.Thread(target=self._pull, name="durable-work", daemon=True).start()

    async def stop(self) -> None:
        self._engine.shut_down()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _pull(self) -> None:
        try:
            for item in self._engine.work():
                self._loop.call_soon_threadsafe(self._accept, item)
        except RuntimeError:
            # The loop closed between two items: the host is ending.
            log.info("durable.stopped")

    def _accept(self, item: pb.WorkItem) -> None:
        task = asyncio.create_task(self._work(item))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, item: pb.WorkItem) -> None:
        kind = item.WhichOneof("request")
        handlers: dict[str, Callable[[pb.WorkItem], Coroutine[None, None, None]]] = {
            "orchestratorRequest": self._orchestrate,
            "activityRequest": self._act,
            "entityRequestV2": self._operate,
        }
        try:
            await handlers[kind](item)
        except Exception:
            # One work item must not take the host down with it.
            log.exception("durable.work_failed %s", kind)

    async def _orchestrate(self, item: pb.WorkItem) -> None:
        request = item.orchestratorRequest
        try:
            async with self._orchestration_slots:
                output = await self._invoke(
                    ORCHESTRATION, _orchestrator_name(request), _encoded(request.SerializeToString())
                )
            response = pb.OrchestratorResponse.FromString(base64.b64decode(output))
        except InvocationFailed as failure:
            response = _orchestrator_failed(request.instanceId, failure)
        response.completionToken = item.completionToken
        self._engine.finish_orchestrator(response)

    async def _act(self, item: pb.WorkItem) -> None:
        request = item.activityRequest
        response = pb.ActivityResponse(
            instanceId=request.orchestrationInstance.instanceId,
            taskId=request.taskId,
            completionToken=item.completionToken,
        )
        try:
            async with self._activity_slots:
                output = await self._invoke(ACTIVITY, request.name, request.input.value)
            response.result.CopyFrom(helpers.get_string_value(output))
        except InvocationFailed as failure:
            response.failureDetails.CopyFrom(failure_details(failure))
        self._engine.finish_activity(response)

    async def _operate(self, item: pb.WorkItem) -> None:
        batch, destinations = helpers.convert_to_entity_batch_request(item.entityRequestV2)
        name = batch.instanceId.split("@")[1]
        try:
            output = await self._invoke(ENTITY, name, _encoded(batch.SerializeToString()))
            result = pb.EntityBatchResult.FromString(base64.b64decode(output))
        except InvocationFailed as failure:
            result = _entity_failed(batch, failure)
        result.completionToken = item.completionToken
        del result.operationInfos[:]
        result.operationInfos.extend(destinations)
        self._engine.finish_entity(result)

    async def _invoke(self, kind: str, name: str, data: str) -> str:
        function = self._functions.get((kind, name.lower()))
        if function is None:
            raise InvocationFailed(message=self._unknown(kind, name))
        response = await self._invoker(function, TypedData(string=data))
        returned = response.return_value
        return "null" if returned is None or returned.value is None else str(returned.value)

    def _unknown(self, kind: str, name: str) -> str:
        known = sorted(function.name for each, function in self._functions.items() if each[0] == kind)
        noun = kind.removesuffix("Trigger")
        return (
            f"ArgumentException: The function '{name}' doesn't exist, is disabled, or is not "
            f"an {noun} function. Known {noun} functions: {', '.join(known)}."
        )


def failure_details(failure: InvocationFailed) -> pb.TaskFailureDetails:
    """What the orchestrator gets to see of an activity's exception.

    Like the platform's extension: the type is what stands before the first colon, the message ends at the
    first line break, the rest is in the stack trace.
    """
    kind, separator, text = failure.message.partition(": ")
    if not separator:
        kind, text = "(unknown)", failure.message
    return pb.TaskFailureDetails(
        errorType=kind,
        # The engine takes a failure without a message for a success.
        errorMessage=text.partition("\n")[0].rstrip() or kind,
        stackTrace=helpers.get_string_value(failure.stack_trace),
    )


def _orchestrator_name(request: pb.OrchestratorRequest) -> str:
    events = [*request.newEvents, *request.pastEvents]
    return next(event.executionStarted.name for event in events if event.HasField("executionStarted"))


def _orchestrator_failed(instance_id: str, failure: InvocationFailed) -> pb.OrchestratorResponse:
    action = pb.OrchestratorAction(
        id=-1,
        completeOrchestration=pb.CompleteOrchestrationAction(
            orchestrationStatus=pb.ORCHESTRATION_STATUS_FAILED, failureDetails=failure_details(failure)
        ),
    )
    return pb.OrchestratorResponse(instanceId=instance_id, actions=[action])


def _entity_failed(batch: pb.EntityBatchRequest, failure: InvocationFailed) -> pb.EntityBatchResult:
    failed = pb.OperationResult(failure=pb.OperationResultFailure(failureDetails=failure_details(failure)))
    return pb.EntityBatchResult(
        results=[failed for _ in batch.operations],
        entityState=batch.entityState if batch.HasField("entityState") else None,
    )


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()

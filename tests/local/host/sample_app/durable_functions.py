"""Orchestrations that use what a long-running job needs, and routes to start and watch them."""

import asyncio
import time
from collections.abc import Generator
from datetime import timedelta
from typing import Any

import azure.durable_functions as df
import azure.functions as func
import grpc
from azurefunctions.extensions.http.fastapi import JSONResponse, Request, Response
from durabletask import task
from durabletask.entities import EntityContext, EntityInstanceId
from durabletask.internal.orchestrator_service_pb2 import (
    ORCHESTRATION_STATUS_COMPLETED,
    ORCHESTRATION_STATUS_FAILED,
    ORCHESTRATION_STATUS_TERMINATED,
    OrchestrationIdReusePolicy,
)

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)
REUSE_FINISHED = OrchestrationIdReusePolicy(
    replaceableStatus=[
        ORCHESTRATION_STATUS_COMPLETED,
        ORCHESTRATION_STATUS_FAILED,
        ORCHESTRATION_STATUS_TERMINATED,
    ]
)
attempts: dict[str, int] = {}
busy = {"now": 0, "most": 0}

type Steps = Generator[task.Task[Any], Any, Any]


@blueprint.route(route="orchestrations/{name}/{instance}", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def start(req: Request, client: df.DurableFunctionsClient) -> Response:
    try:
        instance = await client.schedule_new_orchestration(
            req.path_params["name"],
            input=await req.json(),
            instance_id=req.path_params["instance"],
            reuse_id_policy=REUSE_FINISHED if "reuse" in req.query_params else None,
        )
    except grpc.aio.AioRpcError as error:
        return Response(status_code=409 if error.code() is grpc.StatusCode.ALREADY_EXISTS else 500)
    return JSONResponse({"instance": instance}, status_code=202)


@blueprint.route(route="orchestrations/{instance}", methods=["GET"])
@blueprint.durable_client_input(client_name="client")
async def status(req: Request, client: df.DurableFunctionsClient) -> Response:
    state = await client.get_orchestration_state(req.path_params["instance"])
    if state is None:
        return JSONResponse({"status": None}, status_code=404)
    failure = state.failure_details
    return JSONResponse(
        {
            "status": state.runtime_status.name,
            "output": state.serialized_output,
            "custom": state.serialized_custom_status,
            "failure": None if failure is None else [failure.error_type, failure.message],
        }
    )


@blueprint.route(route="orchestrations/{instance}/events/{event}", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def raise_event(req: Request, client: df.DurableFunctionsClient) -> Response:
    try:
        await client.raise_orchestration_event(
            req.path_params["instance"], req.path_params["event"], data=await req.json()
        )
    except grpc.aio.AioRpcError as error:
        return Response(status_code=404 if error.code() is grpc.StatusCode.NOT_FOUND else 500)
    return Response(status_code=202)


@blueprint.route(route="orchestrations/{instance}", methods=["DELETE"])
@blueprint.durable_client_input(client_name="client")
async def purge(req: Request, client: df.DurableFunctionsClient) -> Response:
    result = await client.purge_orchestration(req.path_params["instance"])
    return JSONResponse({"deleted": result.deleted_instance_count})


@blueprint.route(route="orchestrations/{instance}/terminate", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def terminate(req: Request, client: df.DurableFunctionsClient) -> Response:
    await client.terminate_orchestration(req.path_params["instance"], output="enough")
    return Response(status_code=202)


@blueprint.orchestration_trigger(context_name="context")
def fan_out(context: task.OrchestrationContext, count: int) -> Steps:
    doubled = yield task.when_all([context.call_activity("double", input=n) for n in range(count)])
    return sum(doubled)


@blueprint.orchestration_trigger(context_name="context")
def wait_a_second(context: task.OrchestrationContext, _: Any) -> Steps:
    began = context.current_utc_datetime
    yield context.create_timer(began + timedelta(seconds=1))
    return (context.current_utc_datetime - began).total_seconds()


@blueprint.orchestration_trigger(context_name="context")
def wait_for_go(context: task.OrchestrationContext, seconds: float) -> Steps:
    go = context.wait_for_external_event("go")
    late = context.create_timer(timedelta(seconds=seconds))
    winner = yield task.when_any([go, late])
    return "late" if winner is late else go.get_result()


@blueprint.orchestration_trigger(context_name="context")
def poll(context: task.OrchestrationContext, rounds: int) -> Steps:
    """A stale timer: the event of one round beats a timer that still runs in the next."""
    context.set_custom_status(f"{rounds} to go")
    if rounds == 0:
        yield context.create_timer(timedelta(seconds=2))
        return "polled"
    yield context.create_timer(timedelta(milliseconds=50))
    context.continue_as_new(rounds - 1)
    return None


@blueprint.orchestration_trigger(context_name="context")
def stale_timer(context: task.OrchestrationContext, first: bool) -> Steps:
    """Leaves a one-second timer behind, then sets one of three seconds under the same number."""
    began = context.current_utc_datetime
    timer = context.create_timer(timedelta(seconds=1 if first else 3))
    if first:
        yield context.call_activity("double", input=1)
        context.continue_as_new(False)
        return None
    yield timer
    return (context.current_utc_datetime - began).total_seconds()


@blueprint.orchestration_trigger(context_name="context")
def retrying(context: task.OrchestrationContext, name: str) -> Steps:
    policy = task.RetryPolicy(first_retry_interval=timedelta(milliseconds=100), max_number_of_attempts=3)
    answer = yield context.call_activity("fails_twice", input=name, retry_policy=policy)
    return answer


@blueprint.orchestration_trigger(context_name="context")
def catching(context: task.OrchestrationContext, text: str) -> Steps:
    try:
        yield context.call_activity("fails", input=text)
    except task.TaskFailedError as error:
        return [
            error.details.error_type,
            error.details.message,
            "in fails" in (error.details.stack_trace or ""),
        ]
    return "not reached"


@blueprint.orchestration_trigger(context_name="context")
def failing(context: task.OrchestrationContext, text: str) -> Steps:
    yield context.call_activity("fails", input=text)


@blueprint.orchestration_trigger(context_name="context")
def calls_nobody(context: task.OrchestrationContext, _: Any) -> Steps:
    yield context.call_activity("no_such_activity", input=None)


@blueprint.orchestration_trigger(context_name="context")
def calls_exit(context: task.OrchestrationContext, _: Any) -> Steps:
    try:
        yield context.call_activity("exits_inside", input=None)
    except task.TaskFailedError as error:
        return error.details.error_type
    return "not reached"


@blueprint.orchestration_trigger(context_name="context")
def slow_then_double(context: task.OrchestrationContext, number: int) -> Steps:
    answer = yield context.call_activity("double_slowly", input=number)
    return answer


@blueprint.orchestration_trigger(context_name="context")
def parent(context: task.OrchestrationContext, seconds: float) -> Steps:
    answer = yield context.call_sub_orchestrator("wait_for_go", input=seconds)
    return f"child said {answer}"


@blueprint.orchestration_trigger(context_name="context")
def counts(context: task.OrchestrationContext, key: str) -> Steps:
    counter = EntityInstanceId("counter", key)
    for _ in range(3):
        context.signal_entity(counter, "add", input=2)
    total = yield context.call_entity(counter, "get")
    return total


@blueprint.orchestration_trigger(context_name="context")
def concurrency(context: task.OrchestrationContext, count: int) -> Steps:
    yield task.when_all([context.call_activity("occupy", input=None) for _ in range(count)])
    most = yield context.call_activity("most_at_once", input=None)
    return most


@blueprint.entity_trigger(context_name="context", entity_name="counter")
def counter(context: EntityContext, value: Any) -> Any:
    total = context.get_state(int, 0)
    if context.operation == "add":
        context.set_state(total + value)
    return total


@blueprint.activity_trigger(input_name="number")
async def double(number: int) -> int:
    return number * 2


@blueprint.activity_trigger(input_name="number")
async def double_slowly(number: int) -> int:
    await asyncio.sleep(1)
    return number * 2


@blueprint.activity_trigger(input_name="nothing")
def exits_inside(nothing: Any) -> None:
    raise SystemExit("an activity must not end the host")


@blueprint.activity_trigger(input_name="name")
def fails_twice(name: str) -> str:
    attempts[name] = attempts.get(name, 0) + 1
    if attempts[name] < 3:
        raise ConnectionError(f"attempt {attempts[name]}")
    return f"attempt {attempts[name]}"


@blueprint.activity_trigger(input_name="text")
async def fails(text: str) -> None:
    raise LookupError(text)


@blueprint.activity_trigger(input_name="nothing")
async def occupy(nothing: Any) -> None:
    busy["now"] += 1
    busy["most"] = max(busy["most"], busy["now"])
    await asyncio.sleep(0.3)
    busy["now"] -= 1


@blueprint.activity_trigger(input_name="nothing")
def most_at_once(nothing: Any) -> int:
    time.sleep(0.01)
    return busy["most"]

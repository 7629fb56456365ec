"""The hours lane: the orchestrator, and the activity behind each name it calls."""

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

import azure.durable_functions as df
import azure.functions as func
from durabletask import task

from shared.bootstrap import application
from shared.orchestration import job as orchestration
from shared.triggers import steps

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


class RuntimeContext:
    """The runtime's context, by the names the orchestration knows."""

    def __init__(self, context: task.OrchestrationContext) -> None:
        self._context = context

    @property
    def now(self) -> datetime:
        return self._context.current_utc_datetime

    def call(self, activity: str, input_: object) -> Any:
        return self._context.call_activity(activity, input=input_)

    def timer(self, fire_at: datetime) -> Any:
        return self._context.create_timer(fire_at)

    def event(self, name: str) -> Any:
        return self._context.wait_for_external_event(name)

    def first_of(self, tasks: Sequence[Any]) -> Any:
        return task.when_any(list(tasks))

    def begin_anew(self, input_: object) -> None:
        self._context.continue_as_new(input_, save_events=True)


@blueprint.orchestration_trigger(context_name="context")
def run_job(context: task.OrchestrationContext, job: Any) -> Generator[Any, Any, Any]:
    return (yield from orchestration.run_job(RuntimeContext(context), job))


@blueprint.activity_trigger(input_name="job")
async def plan_round(job: Any) -> steps.Answer:
    return await steps.plan_round(application(), job)


@blueprint.activity_trigger(input_name="job")
async def advance_chunk(job: Any) -> steps.Answer:
    return await steps.advance_chunk(application(), job)


@blueprint.activity_trigger(input_name="job")
async def finish_job(job: Any) -> steps.Answer:
    return await steps.finish_job(application(), job)

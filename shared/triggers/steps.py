"""The activities that the orchestration names: plain JSON in, plain JSON out, over the use cases."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import wraps
from typing import Any, Final

from shared.bootstrap import App
from shared.domain.errors import Superseded
from shared.domain.ids import JobId, TenantId
from shared.orchestration import job as orchestration

Answer = dict[str, Any]
Step = Callable[[App, Answer], Awaitable[Answer]]

# The runtime's timers are no finer.
SHORTEST: Final = timedelta(milliseconds=100)


def _guarded(step: Step) -> Step:
    """That another run drives the job is an answer: the orchestration then stops without a word.

    A fault of ours ends the orchestration too, but somebody is told of it.
    """

    @wraps(step)
    async def guarded(app: App, job: Answer) -> Answer:
        try:
            return await step(app, job)
        except Superseded:
            return {orchestration.SUPERSEDED: True}
        except Exception as crash:
            await app.report_crash(TenantId(job["tenant"]), JobId(job["job_id"]), step.__name__, crash)
            raise

    return guarded


@_guarded
async def plan_round(app: App, job: Answer) -> Answer:
    planned = await app.plan_round(TenantId(job["tenant"]), JobId(job["job_id"]), job["run"])
    return {"chunks": planned.chunks, **_wait(planned.wait)}


@_guarded
async def advance_chunk(app: App, job: Answer) -> Answer:
    wait = await app.advance_chunk(TenantId(job["tenant"]), JobId(job["job_id"]), job["n"], job["run"])
    return {"done": wait is None, **_wait(wait)}


@_guarded
async def finish_job(app: App, job: Answer) -> Answer:
    return _wait(await app.finish_job(TenantId(job["tenant"]), JobId(job["job_id"]), job["run"]))


def _wait(wait: timedelta | None) -> Answer:
    return {} if wait is None else {"wait_seconds": max(wait, SHORTEST).total_seconds()}

"""A durable engine in a few lines: runs the real orchestration over the real use cases, on a stepped clock.

No history and no replay: what must survive a crash lies in the records, and the tests crash it on purpose.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from shared.adapters.memory.clock import FixedClock
from shared.bootstrap import App
from shared.domain.errors import Superseded
from shared.domain.ids import JobId, TenantId
from shared.orchestration.job import ADVANCE_CHUNK, FINISH_JOB, PLAN_ROUND, run_job

Activity = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(eq=False)
class Call:
    activity: str
    given: dict[str, Any]


@dataclass(eq=False)
class Timer:
    fire_at: datetime


@dataclass(eq=False)
class Event:
    name: str
    raised: bool = False


@dataclass(eq=False)
class FirstOf:
    tasks: Sequence[Any]


@dataclass
class Context:
    clock: FixedClock
    events: list[Event] = field(default_factory=list)
    anew: Any = None

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def call(self, activity: str, input_: object) -> Any:
        assert isinstance(input_, dict)
        return Call(activity, input_)

    def timer(self, fire_at: datetime) -> Any:
        return Timer(fire_at)

    def event(self, name: str) -> Any:
        self.events.append(Event(name))
        return self.events[-1]

    def first_of(self, tasks: Sequence[Any]) -> Any:
        return FirstOf(tasks)

    def begin_anew(self, input_: object) -> None:
        self.anew = input_


def activities(app: App) -> dict[str, Activity]:
    async def plan_round(job: dict[str, Any]) -> dict[str, Any]:
        answer = await app.plan_round(TenantId(job["tenant"]), JobId(job["job_id"]), job["run"])
        wait = {} if answer.wait is None else {"wait_seconds": max(answer.wait.total_seconds(), 0.1)}
        return {"chunks": answer.chunks, **wait}

    async def advance_chunk(job: dict[str, Any]) -> dict[str, Any]:
        wait = await app.advance_chunk(TenantId(job["tenant"]), JobId(job["job_id"]), job["n"], job["run"])
        return {"done": True} if wait is None else {"wait_seconds": max(wait.total_seconds(), 0.1)}

    async def finish_job(job: dict[str, Any]) -> dict[str, Any]:
        wait = await app.finish_job(TenantId(job["tenant"]), JobId(job["job_id"]), job["run"])
        return {} if wait is None else {"wait_seconds": max(wait.total_seconds(), 0.1)}

    return {PLAN_ROUND: plan_round, ADVANCE_CHUNK: advance_chunk, FINISH_JOB: finish_job}


class Engine:
    """Implements `Orchestrations`. `run` drives everything that was started to its end, one after another."""

    def __init__(self, clock: FixedClock) -> None:
        self._clock = clock
        self.started: list[dict[str, Any]] = []
        self.before_timer: Callable[[], None] = lambda: None

    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        given = {"tenant": tenant, "job_id": job_id, "run": run}
        if given not in self.started:
            self.started.append(given)

    async def forget_finished(self) -> None:
        return

    async def wake(self, job_id: JobId, run: int) -> None:
        return

    async def run(self, app: App, *, steps: int = 2_000) -> list[str]:
        """The last word of each orchestration."""
        words = []
        while self.started:
            words.append(await self._drive(app, self.started.pop(0), steps))
        return words

    async def _drive(self, app: App, given: dict[str, Any], steps: int) -> str:
        done = activities(app)
        context = Context(self._clock)
        generator = run_job(context, given)
        value: Any = None
        for _ in range(steps):
            try:
                task = generator.send(value)
            except StopIteration as end:
                if context.anew is None:
                    return str(end.value)
                context = Context(self._clock)
                generator, value = run_job(context, given), None
                continue
            value = await self._resolve(task, done)
        raise AssertionError(f"{given} did not end within {steps} steps")

    async def _resolve(self, task: Any, done: dict[str, Activity]) -> Any:
        if isinstance(task, Call):
            try:
                return await done[task.activity](task.given)
            except Superseded:
                return {"superseded": True}
        timer = task if isinstance(task, Timer) else next(t for t in task.tasks if isinstance(t, Timer))
        self.before_timer()
        self._clock.advance(max(timer.fire_at - self._clock.now(), timedelta(0)))
        return timer

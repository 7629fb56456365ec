"""A durable engine in a few lines: runs the real orchestration over the real activities, on a stepped clock.

Activities of one orchestration run side by side, as do orchestrations; time passes only when all of them
sleep. There is no replay: what must survive a crash lies in the records, and tests crash it on purpose.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from shared.adapters.memory.clock import FixedClock
from shared.bootstrap import App
from shared.domain.ids import JobId, TenantId
from shared.orchestration.job import ADVANCE_CHUNK, FINISH_JOB, PLAN_ROUND, WAKE, run_job
from shared.triggers import steps

MAX_PAYLOAD: Final = 16 * 1024
ACTIVITIES: Final = {
    PLAN_ROUND: steps.plan_round,
    ADVANCE_CHUNK: steps.advance_chunk,
    FINISH_JOB: steps.finish_job,
}


class ActivityFailed(Exception):
    """What the runtime raises in an orchestrator whose activity has raised."""


@dataclass(eq=False)
class Call:
    activity: str
    given: dict[str, Any]
    running: asyncio.Task[Any] | None = None


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
    """One history. `tasks` counts what was asked of the runtime in it."""

    clock: FixedClock
    unread: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    tasks: int = 0
    anew: Any = None

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def call(self, activity: str, input_: object) -> Any:
        given = json.loads(_payload(input_))
        self.calls.append(Call(activity, given))
        self.tasks += 1
        return self.calls[-1]

    def timer(self, fire_at: datetime) -> Any:
        self.tasks += 1
        return Timer(fire_at)

    def event(self, name: str) -> Any:
        event = Event(name, raised=name in self.unread)
        if event.raised:
            self.unread.remove(name)
        self.events.append(event)
        return event

    def first_of(self, tasks: Sequence[Any]) -> Any:
        return FirstOf(tasks)

    def begin_anew(self, input_: object) -> None:
        self.anew = json.loads(_payload(input_))

    def raise_event(self, name: str) -> None:
        for event in self.events:
            if event.name == name and not event.raised:
                event.raised = True
                return
        self.unread.append(name)


class Instance:
    """One orchestration. `word` is its last one, `histories` the number of tasks in each of its histories."""

    def __init__(self, clock: FixedClock, given: dict[str, Any]) -> None:
        self.given = given
        self.word: str | None = None
        self.histories: list[int] = []
        self.context = Context(clock)
        self._clock = clock
        self._steps: Generator[Any, Any, Any] = run_job(self.context, given)
        self._waits_for: Any = None
        self._begun = False

    @property
    def fire_at(self) -> datetime:
        """When its present sleep ends."""
        task = self._waits_for
        return min(t.fire_at for t in getattr(task, "tasks", [task]) if isinstance(t, Timer))

    async def on(self, app: App) -> None:
        """On, until it sleeps or has said its last word."""
        if not self._begun:
            self._begun = True
            self._step(partial(self._steps.send, None))
        while self.word is None:
            if isinstance(self._waits_for, Call):
                await self._answer(app, self._waits_for)
            elif (fired := self._fired()) is not None:
                self._step(partial(self._steps.send, fired))
            else:
                return

    async def die(self) -> None:
        begun = [call.running for call in self.context.calls if call.running]
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)

    async def _answer(self, app: App, awaited: Call) -> None:
        for call in self.context.calls:
            if call.running is None:
                call.running = asyncio.create_task(_run(app, call))
        assert awaited.running is not None
        try:
            answer = await awaited.running
        except AssertionError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the runtime tells the orchestrator
            failed = ActivityFailed(f"{awaited.activity}: {error}")
            self._step(partial(self._steps.throw, failed))
        else:
            self._step(partial(self._steps.send, answer))

    def _fired(self) -> Any:
        tasks = getattr(self._waits_for, "tasks", [self._waits_for])
        events: list[Any] = [t for t in tasks if isinstance(t, Event) and t.raised]
        timers: list[Any] = [t for t in tasks if isinstance(t, Timer) and t.fire_at <= self._clock.now()]
        return next(iter(events + timers), None)

    def _step(self, move: Callable[[], Any]) -> None:
        try:
            self._waits_for = move()
        except StopIteration as end:
            self.histories.append(self.context.tasks)
            if self.context.anew is None:
                self.word = str(end.value)
                return
            self.given = self.context.anew
            self.context = Context(self._clock, unread=[*self.context.unread, *_unused(self.context)])
            self._steps = run_job(self.context, self.given)
            self._waits_for = self._steps.send(None)


class Engine:
    """Implements `Orchestrations`."""

    def __init__(self, clock: FixedClock) -> None:
        self._clock = clock
        self.instances: dict[tuple[JobId, int], Instance] = {}
        self.refusals: deque[Exception] = deque()

    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        if self.refusals:
            raise self.refusals.popleft()
        given = {"tenant": tenant, "job_id": job_id, "run": run}
        self.instances.setdefault((job_id, run), Instance(self._clock, given))

    async def forget_finished(self) -> None:
        self.instances = {name: i for name, i in self.instances.items() if i.word is None}

    async def wake(self, job_id: JobId, run: int) -> None:
        if instance := self.instances.get((job_id, run)):
            instance.context.raise_event(WAKE)

    async def lose_everything(self) -> None:
        """As when the process dies that holds all orchestrations."""
        for instance in self.instances.values():
            await instance.die()
        self.instances.clear()

    @property
    def live(self) -> list[Instance]:
        return [instance for instance in self.instances.values() if instance.word is None]

    async def settle(self, app: App) -> None:
        """On, until every orchestration sleeps or has ended. No time passes."""
        try:
            async with asyncio.TaskGroup() as group:
                for instance in self.live:
                    group.create_task(instance.on(app))
        except BaseExceptionGroup as group_of:
            raise _first(group_of) from None

    async def run(self, app: App, *, sleeps: int = 1_000) -> list[str]:
        """Until every orchestration has ended, whatever time it takes; the last word of each."""
        for _ in range(sleeps):
            await self.settle(app)
            if not self.live:
                return [instance.word or "" for instance in self.instances.values()]
            self._advance(min(instance.fire_at for instance in self.live))
        raise AssertionError(f"{[i.given for i in self.live]} did not end within {sleeps} sleeps")

    async def pass_time(self, app: App, by: timedelta) -> None:
        """Let that much time pass, with everything that falls due in it."""
        end = self._clock.now() + by
        while True:
            await self.settle(app)
            due = min((instance.fire_at for instance in self.live), default=end)
            if due > end:
                break
            self._advance(due)
            if due == end:
                await self.settle(app)
                break
        self._advance(end)

    def _advance(self, to: datetime) -> None:
        self._clock.advance(max(to - self._clock.now(), timedelta(0)))


async def _run(app: App, call: Call) -> Any:
    activity: Callable[[App, dict[str, Any]], Awaitable[dict[str, Any]]] = ACTIVITIES[call.activity]
    return json.loads(_payload(await activity(app, call.given)))


def _payload(value: object) -> str:
    text = json.dumps(value)
    assert len(text) < MAX_PAYLOAD, f"{len(text)} bytes in a history: {text[:80]}"
    return text


def _unused(context: Context) -> list[str]:
    """Events that came and that nobody was told of: a new history gets them."""
    return [event.name for event in context.events[-1:] if event.raised]


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found

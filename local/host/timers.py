"""Timer triggers: each function runs on its schedule, never twice at the same time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

from local.host.configuration import Configuration
from local.host.cron import Schedule, parse_schedule
from local.host.functions import CannotServe, Function
from local.host.invoker import Invoker, log_failure
from local.host.messages import TypedData
from local.host.worker import InvocationFailed

_NAP_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Timer:
    function: Function
    schedule: Schedule
    run_on_startup: bool


class TimerTrigger:
    """A run that takes longer than its interval delays the next one; what was missed is not made up for."""

    types = frozenset({"timerTrigger"})

    def __init__(self, *, configuration: Configuration, invoker: Invoker) -> None:
        self._configuration = configuration
        self._invoker = invoker
        self._timers: list[_Timer] = []
        self._tasks: list[asyncio.Task[None]] = []

    def bind(self, function: Function) -> None:
        trigger = function.trigger
        text = self._configuration.resolve(trigger["schedule"])
        try:
            schedule = parse_schedule(text)
            schedule(datetime.now(UTC))
        except ValueError as exc:
            raise CannotServe(f"the schedule {text!r} cannot be used: {exc}") from exc
        self._timers.append(
            _Timer(
                function=function,
                schedule=schedule,
                run_on_startup=bool(trigger.get("runOnStartup", False)),
            )
        )

    def routes(self) -> Iterable[web.RouteDef]:
        return ()

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(self._run(timer)) for timer in self._timers]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, timer: _Timer) -> None:
        last = datetime.now(UTC)
        if timer.run_on_startup:
            await self._invoke(timer, last=last)
        while True:
            due = timer.schedule(datetime.now(UTC))
            await _sleep_until(due)
            await self._invoke(timer, last=last)
            last = due

    async def _invoke(self, timer: _Timer, *, last: datetime) -> None:
        try:
            await self._invoker(timer.function, _timer_data(timer, last=last))
        except InvocationFailed as failure:
            log_failure(timer.function, failure)


async def _sleep_until(due: datetime) -> None:
    # In short naps, so that a clock that is set forward is noticed.
    while remaining := max(0.0, (due - datetime.now(UTC)).total_seconds()):  # noqa: ASYNC110 - no event to await
        await asyncio.sleep(min(remaining, _NAP_SECONDS))


def _timer_data(timer: _Timer, *, last: datetime) -> TypedData:
    now = datetime.now(UTC)
    return TypedData(
        json=json.dumps(
            {
                "Schedule": {"AdjustForDST": True},
                "ScheduleStatus": {
                    "Last": last.isoformat(),
                    "Next": timer.schedule(now).isoformat(),
                    "LastUpdated": last.isoformat(),
                },
                "IsPastDue": False,
            }
        )
    )

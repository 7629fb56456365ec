"""A loop whose time is ours: a sleep lasts as long as nothing else is to be done, and costs nothing."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

START = datetime(2026, 11, 30, 8, tzinfo=UTC)


class _Impatient(selectors.DefaultSelector):
    """Waits for nobody; moves its loop's time on instead."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everything waits for something that never comes"
            self.passed += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._impatient = _Impatient()
        super().__init__(self._impatient)

    def time(self) -> float:
        return self._impatient.passed

    def run_in_executor[*Arguments, Result](
        self, executor: Executor | None, func: Callable[[*Arguments], Result], *args: *Arguments
    ) -> asyncio.Future[Result]:
        """At once and here: a thread of its own would live in another time."""
        done: asyncio.Future[Result] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 whoever awaits it gets it
            done.set_exception(error)
        return done


class VirtualClock:
    """The running virtual loop's time, as the core sees it."""

    def now(self) -> datetime:
        return START + timedelta(seconds=asyncio.get_running_loop().time())


def run[Result](work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


def in_virtual_time[**Arguments, Result](
    test: Callable[Arguments, Coroutine[Any, Any, Result]],
) -> Callable[Arguments, Result]:
    """The test as an ordinary function."""

    @wraps(test)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return run(test(*args, **kwargs))

    return wrapped

"""Adversarial interleavings: workers that act on one port call at a time, in the order of a script."""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from shared.bootstrap import App
from tests.support.world import World

Work = Callable[[App], Awaitable[object]]


class Turns:
    """`script` names the worker of each turn; when it is used up, or its worker has ended, all are free."""

    def __init__(self, script: Sequence[int]) -> None:
        self.taken: list[int] = []
        self._script = deque(script)
        self._ended: set[int] = set()
        self._changed = asyncio.Condition()

    async def take(self, worker: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._next() in (worker, None))
            if self._script:
                self._script.popleft()
            self.taken.append(worker)
            self._changed.notify_all()

    async def leave(self, worker: int) -> None:
        async with self._changed:
            self._ended.add(worker)
            self._changed.notify_all()

    def _next(self) -> int | None:
        while self._script and self._script[0] in self._ended:
            self._script.popleft()
        return self._script[0] if self._script else None


class Turned:
    """A port whose every verb waits for its worker's turn."""

    def __init__(self, port: Any, turns: Turns, worker: int) -> None:
        self._port = port
        self._turns = turns
        self._worker = worker

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._port, name)
        if inspect.iscoroutinefunction(verb):
            return self._call(verb)
        return self._stream(verb) if inspect.isasyncgenfunction(verb) else verb

    def _call(self, verb: Any) -> Any:
        async def call(*args: Any, **more: Any) -> Any:
            await self._turns.take(self._worker)
            return await verb(*args, **more)

        return call

    def _stream(self, verb: Any) -> Any:
        async def stream(*args: Any, **more: Any) -> AsyncIterator[Any]:
            await self._turns.take(self._worker)
            async for piece in verb(*args, **more):
                yield piece

        return stream


async def race(world: World, script: Sequence[int], *works: Work) -> list[object]:
    """Every work in a process of its own, over the same stores; what each returned or raised."""
    turns = Turns(script)

    async def run(worker: int, work: Work) -> object:
        app = world.power_up(lambda port: Turned(port, turns, worker))
        try:
            return await work(app)
        finally:
            await turns.leave(worker)

    answers = await asyncio.gather(*(run(i, w) for i, w in enumerate(works)), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, AssertionError):
            raise answer
    return list(answers)


def handovers(longest: int) -> list[list[int]]:
    """Scripts in which the first worker is stopped after every number of calls, the second at every other one."""
    stops = [(i, j) for i in range(longest) for j in range(i % 2, longest, 2)]
    return [[0] * i + [1] * j + [0] * longest + [1] * longest for i, j in stops]

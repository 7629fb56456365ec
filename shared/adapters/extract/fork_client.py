"""The app's end of the fork server: started on first use, restarted when it is gone."""

import asyncio
import json
import os
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from itertools import count

from shared.adapters.extract.messages import ANSWERS, READY, Answer, Cancel, Order, Ready, line
from shared.domain.extraction import ExtractorUnavailable

# The path is handed over as it is here: the server starts with an empty environment.
_START = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from shared.adapters.extract.fork_server import main
main(sys.argv[2])
"""
_START_SECONDS = 60
_STOP_SECONDS = 5
# Beyond the child's own clock: a child that is stopped or stuck in the kernel hears no alarm.
_GRACE_SECONDS = 15
_MAX_LINE_BYTES = 2**20


class ServerGone(ExtractorUnavailable):
    """The fork server ended under us, which no document can make it do: ask once more."""


class _Connection:
    """One running server and the answers awaited from it."""

    def __init__(self, process: Process, ready: Ready) -> None:
        self.process = process
        self.directory = ready.directory
        self.awaited: dict[int, asyncio.Future[Answer]] = {}
        self.listening = asyncio.create_task(self._listen())

    @property
    def is_alive(self) -> bool:
        return not self.listening.done()

    def say(self, message: Order | Cancel) -> None:
        if self.process.stdin is not None:
            self.process.stdin.write(line(message))

    async def _listen(self) -> None:
        """Hand each answer to who awaits it; when the server is gone, tell all."""
        if self.process.stdout is None:
            return
        try:
            while said := await self.process.stdout.readline():
                self._hand_over(ANSWERS.decode(said))
        finally:
            for awaited in self.awaited.values():
                if not awaited.done():
                    awaited.set_exception(ServerGone("the extraction server ended while it read"))
            self.awaited.clear()

    def _hand_over(self, answer: Answer) -> None:
        awaited = self.awaited.pop(answer.id, None)
        if awaited and not awaited.done():
            awaited.set_result(answer)

    async def end(self) -> None:
        """Close our end, which makes the server kill its children and leave; insist where it does not."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await self.process.wait()
        except TimeoutError:
            self.kill()
            await self.process.wait()
        await self.listening
        await asyncio.to_thread(shutil.rmtree, self.directory, ignore_errors=True)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()


class ForkClient:
    """Sends orders to a fork server that it starts, watches and ends."""

    def __init__(self, *, directory: str, environment: Mapping[str, str]) -> None:
        self._directory = directory
        self._environment = dict(environment)
        self._connection: _Connection | None = None
        self._starting = asyncio.Lock()
        self._ids = count(1)
        self._is_closed = False

    @property
    def server_pid(self) -> int | None:
        """The process id of the running server."""
        connection = self._connection
        return connection.process.pid if connection and connection.is_alive else None

    def next_id(self) -> int:
        """A number no order had before."""
        return next(self._ids)

    async def ask(self, order: Order) -> Answer:
        """The answer to `order`. Cancelling kills the child that works on it.

        Raises `ServerGone` when the server ends before it answers, `ExtractorUnavailable` when it cannot be
        started or keeps silent.
        """
        connection = await self._connected()
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        connection.awaited[order.id] = answer
        connection.say(order)
        try:
            async with asyncio.timeout(order.child_limits.wall_seconds + _GRACE_SECONDS):
                return await answer
        except TimeoutError:
            connection.kill()
            raise ExtractorUnavailable("the extraction server did not answer and was ended") from None
        finally:
            if connection.awaited.pop(order.id, None):
                connection.say(Cancel(id=order.id))

    async def close(self) -> None:
        """End the server and everything it started."""
        async with self._starting:
            self._is_closed = True
            if self._connection is not None:
                await self._connection.end()
                self._connection = None

    async def _connected(self) -> _Connection:
        async with self._starting:
            if self._is_closed:
                raise ExtractorUnavailable("the extractor is closed")
            if self._connection is not None and not self._connection.is_alive:
                await self._connection.end()
                self._connection = None
            if self._connection is None:
                self._connection = await self._start()
            return self._connection

    async def _start(self) -> _Connection:
        path = json.dumps([entry or os.getcwd() for entry in sys.path])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-X", "utf8", "-c", _START, path, self._directory,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=self._environment, limit=_MAX_LINE_BYTES,
        )  # fmt: skip
        return _Connection(process, await _hear_ready(process))


async def _hear_ready(process: Process) -> Ready:
    said = b""
    try:
        if process.stdout is not None:
            async with asyncio.timeout(_START_SECONDS):
                said = await process.stdout.readline()
    finally:
        if not said.endswith(b"\n"):
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if not said.endswith(b"\n"):
        raise ExtractorUnavailable(
            f"the extraction server ended at its start with code {process.returncode};"
            " `python -c 'import shared.adapters.extract.fork_server'` shows why"
        )
    return READY.decode(said)

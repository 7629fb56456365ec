"""The feed as its own process, with a webhook in the test that it posts to."""

import contextlib
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from tests.local.servicebus.process import free_port
from tests.support.azurite import Azurite


class Webhook:
    """Stands for the host: takes events, unless it is told another status. `events` in the order they came."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.events: list[dict[str, Any]] = []
        self.status = 202
        self.refused = 0
        self._runner: web.AppRunner | None = None

    def names(self) -> list[str]:
        """Of the blobs, as the subjects have them."""
        return [event["subject"].partition("/blobs/")[2] for event in self.events]

    async def open(self) -> None:
        application = web.Application()
        application.router.add_post("/hook", self._take)
        self._runner = web.AppRunner(application)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()

    async def close(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _take(self, request: web.Request) -> web.Response:
        if self.status == 202:
            self.events.extend(await request.json())
        else:
            self.refused += 1
        return web.Response(status=self.status)


class FeedProcess:
    """About one container; keeps its folder and port when it is started again."""

    def __init__(self, folder: Path, *, azurite: Azurite, container: str) -> None:
        self.port, self.webhook_port = free_port(), free_port()
        self.container = container
        self._errors = folder / "feed.err"
        self._environment = {"FEED_STORAGE": azurite.connection_string}
        self._command = [
            *(sys.executable, "-m", "local.change_feed", "--port", str(self.port)),
            *("--data", str(folder / "feed"), "--log", str(azurite.access_log)),
            *("--prefix", f"/blobServices/default/containers/{container}/"),
            *("--webhook", f"http://127.0.0.1:{self.webhook_port}/hook?functionName=Host.Functions.x"),
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def start(self) -> None:
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(self._command, env=self._environment, stderr=errors)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise AssertionError(f"the feed did not start:\n{self.errors}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        return self._process.wait(10)

    async def turn(self, **knobs: float) -> int:
        """The status of turning; what is not given is off."""
        async with aiohttp.request("PUT", f"http://127.0.0.1:{self.port}/knobs", json=knobs) as response:
            return response.status

    async def counts(self) -> dict[str, int]:
        async with aiohttp.request("GET", f"http://127.0.0.1:{self.port}/counts") as response:
            return dict(await response.json())

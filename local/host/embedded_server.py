"""The worker's own HTTP server (uvicorn), made to live inside a host that owns signals, logs and shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import ClassVar

import uvicorn

# Longer than the front end keeps an idle connection, so that it never writes into a closing one.
KEEP_ALIVE_SECONDS = 75
GRACE_SECONDS = 3


class EmbeddedServer(uvicorn.Server):
    """Takes no signals, writes no access log, and can be stopped and awaited."""

    running: ClassVar[EmbeddedServer | None] = None

    def __init__(self, config: uvicorn.Config) -> None:
        config.log_level = "warning"
        config.access_log = False
        config.timeout_keep_alive = KEEP_ALIVE_SECONDS
        config.timeout_graceful_shutdown = GRACE_SECONDS
        config.configure_logging()
        super().__init__(config)
        self._ended = asyncio.Event()
        EmbeddedServer.running = self

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().serve(sockets)
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """Finish what is being answered, within the grace, and close."""
        self.should_exit = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), GRACE_SECONDS + 2)


def embed() -> None:
    """From now on a server built as `uvicorn.Server` is an embedded one.

    The web extension builds its server by that name and offers no other way to own its life.
    """
    uvicorn.Server = EmbeddedServer  # type: ignore[misc]

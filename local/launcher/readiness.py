"""Whether a process answers."""

from __future__ import annotations

import asyncio
import contextlib
from urllib.parse import urlsplit

from local.launcher.processes import Process

_ANSWER_SECONDS = 2.0


async def is_ready(process: Process) -> bool:
    """A look, without waiting for longer than it takes to see."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            if process.url is not None:
                return await answers(process.url)
            for port in process.ports:
                await _connect(port)
            return process.prepare is None or await process.prepare()
    except (OSError, TimeoutError, EOFError):
        return False


async def _connect(port: int) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


async def answers(url: str) -> bool:
    """Whether it is there and says 200. Raises `OSError` when nobody listens."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(f"GET {address.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        status = await reader.readline()
        return status.split()[1:2] == [b"200"]
    finally:
        writer.close()

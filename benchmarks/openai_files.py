"""How it is for others while a file of 200 MB comes in and a batch of 50,000 lines is worked on.

The provider is the simulator: the time it takes is no figure of ours.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import aiohttp
import msgspec

from benchmarks import samples
from benchmarks.client import Client
from benchmarks.figures import Figures
from benchmarks.memory import watching
from benchmarks.stack import MOST_MB, others
from local.stack import Stack

_LARGEST: Final = 200 * 1024 * 1024
_BOUNDARY: Final = "benchmark"
_ENDPOINT: Final = "/v1/chat/completions"
_OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})


async def measure(figures: Figures, *, stack: Stack, size: int) -> None:
    async with aiohttp.ClientSession() as session:
        client = Client(session, stack.http, stack.keys["support"])
        wish = {"input_file_id": await _upload(client, _lines(size)), "endpoint": _ENDPOINT}
        batch = await client.post("/openai/v1/batches", {**wish, "completion_window": "24h"})
        group = f"files of {_LARGEST / 1e6:.0f} MB while a batch of {size:,} lines is worked on"
        async with watching(stack.pids()["host"]) as host, others(figures, client, group):
            begun, uploads = time.perf_counter(), 0
            working = asyncio.create_task(_finished(client, str(batch["id"])))
            while not working.done():
                await _upload(client, _zeros(_LARGEST))
                uploads += 1
            found = await working
        figures.add(group, "files", uploads, "files")
        figures.add(group, "a file", (time.perf_counter() - begun) / uploads, "s")
        figures.add(group, "host at most", host.most, "MB", at_most=MOST_MB)
        if found["request_counts"]["completed"] != size:
            raise RuntimeError(f"{size} lines went in, and came out as {found['request_counts']}")


async def _finished(client: Client, batch: str) -> dict[str, Any]:
    while True:
        found = await client.get(f"/openai/v1/batches/{batch}")
        if found["status"] in _OVER:
            return found
        await asyncio.sleep(0.5)


async def _upload(client: Client, content: AsyncIterator[bytes]) -> str:
    """The id of a file with this content, sent piece by piece."""
    media = f"multipart/form-data; boundary={_BOUNDARY}"
    made = await client.post("/openai/v1/files", _form(content), {"content-type": media})
    return str(made["id"])


async def _form(content: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    head = f"--{_BOUNDARY}\r\nContent-Disposition: form-data; name="
    yield f'{head}"purpose"\r\n\r\nbatch\r\n{head}"file"; filename="bench.jsonl"\r\n\r\n'.encode()
    async for piece in content:
        yield piece
    yield f"\r\n--{_BOUNDARY}--\r\n".encode()


async def _lines(count: int) -> AsyncIterator[bytes]:
    lines = (_line(request) for request in samples.requests(count))
    for block in samples.blocks(lines):
        yield block


def _line(request: bytes) -> bytes:
    entry = msgspec.json.decode(request)
    body = {**entry["body"], "model": "summarize"}
    return msgspec.json.encode({**entry, "method": "POST", "url": _ENDPOINT, "body": body}) + b"\n"


async def _zeros(size: int) -> AsyncIterator[bytes]:
    piece = bytes(1024 * 1024)
    for _ in range(size // len(piece)):
        yield piece

"""Reading a job's status again and again: memory that stays, and a ledger that does not change."""

import asyncio
import time
from typing import Final

import aiohttp

from benchmarks import memory, samples
from benchmarks.client import Client
from benchmarks.figures import Figures
from local.stack import Stack

_AT_ONCE: Final = 8
# What 100,000 reads may leave behind.
_MOST_MB_LEFT: Final = 20.0
_WARM_UP: Final = 500


async def measure(figures: Figures, *, stack: Stack, reads: int) -> None:
    async with aiohttp.ClientSession() as session:
        client = Client(session, stack.http, stack.keys["support"])
        lines = b",".join(line.rstrip() for line in samples.requests(3, line_bytes=400))
        job = (await client.post("/v1/jobs", b'{"alias":"summarize","requests":[%s]}' % lines))["id"]
        await client.finished(job)
        booked = (await client.get("/v1/usage"))["total"]
        await _read(client, job, _WARM_UP)
        host = stack.pids()["host"]
        before, begun = memory.resident(host), time.perf_counter()
        await _read(client, job, reads)
        seconds, left = time.perf_counter() - begun, memory.resident(host) - before
        if (await client.get("/v1/usage"))["total"] != booked:
            raise RuntimeError("reading a job's status has changed what is booked")
    group = f"{reads:,} status reads, {_AT_ONCE} at once"
    figures.add(group, "a second", reads / seconds, "reads/s")
    figures.add(group, "memory left behind in the host", left, "MB", at_most=_MOST_MB_LEFT)


async def _read(client: Client, job: str, reads: int) -> None:
    left = iter(range(reads))

    async def one_after_the_other() -> None:
        for _ in left:
            await client.get(f"/v1/jobs/{job}")

    await asyncio.gather(*(one_after_the_other() for _ in range(_AT_ONCE)))

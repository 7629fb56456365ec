"""The whole path through HTTP on the local stack, and how it is for others meanwhile.

The provider is the simulator: the time it takes is no figure of ours.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import msgspec

from benchmarks import samples
from benchmarks.client import Client, delays
from benchmarks.figures import Figures
from benchmarks.loop_lag import percentile
from benchmarks.memory import watching
from local.stack import Stack

MOST_MB: Final = 400.0
_MOST_DELAY_MS: Final = 100.0
_LARGE_BODY: Final = 31 * 1024 * 1024
_NAMES: Final = {0.5: "median", 0.99: "99 %", 1.0: "longest"}
_BLOCK: Final = 4 * 1024 * 1024


async def measure(figures: Figures, *, stack: Stack, size: int) -> None:
    async with aiohttp.ClientSession() as session:
        client = Client(session, stack.http, stack.keys["support"])
        await _whole_path(figures, client, stack, size)
        await _large_bodies(figures, client, stack)


async def _whole_path(figures: Figures, client: Client, stack: Stack, size: int) -> None:
    group = f"{size:,} requests through HTTP"
    upload = await client.upload(_content(size))
    async with watching(stack.pids()["host"]) as host, others(figures, client, group):
        begun = time.perf_counter()
        job = (await client.post("/v1/jobs", {"alias": "summarize", "upload_id": upload}))["id"]
        figures.add(group, "accepted", time.perf_counter() - begun, "s")
        found = await client.finished(job)
        figures.add(group, "finished, the simulator's work included", time.perf_counter() - begun, "s")
    if found["counts"]["succeeded"] != size:
        raise RuntimeError(f"{size} requests went in, and came out as {found['counts']}")
    figures.add(group, "host before", host.before, "MB")
    figures.add(group, "host at most", host.most, "MB", at_most=MOST_MB)
    figures.add(group, "host afterwards", host.after, "MB")
    await _results(figures, client, stack, job, size)


async def _results(figures: Figures, client: Client, stack: Stack, job: str, size: int) -> None:
    group = f"results of {size:,} requests through HTTP"
    for form in ("jsonl", "csv", "parquet"):
        async with watching(stack.pids()["host"]) as host:
            begun = time.perf_counter()
            got = await client.download(f"/v1/jobs/{job}/results?format={form}")
            figures.add(group, form, time.perf_counter() - begun, "s")
        figures.add(group, form, host.most, "MB", at_most=MOST_MB)
        figures.add(group, form, got / 1e6, "MB received")


async def _large_bodies(figures: Figures, client: Client, stack: Stack) -> None:
    """Bodies as large as are taken, one alone and then several at once."""
    body = _large_body()
    for at_once in (1, 4):
        group = f"{at_once} x {len(body) / 1e6:.0f} MB posted to /v1/jobs"
        async with watching(stack.pids()["host"]) as host, others(figures, client, group):
            begun = time.perf_counter()
            jobs = await asyncio.gather(*(client.post("/v1/jobs", body) for _ in range(at_once)))
            figures.add(group, "accepted", time.perf_counter() - begun, "s")
        figures.add(group, "host at most", host.most, "MB", at_most=MOST_MB)
        await asyncio.gather(*(client.post(f"/v1/jobs/{job['id']}/cancel", {}) for job in jobs))
        await asyncio.gather(*(client.finished(job["id"]) for job in jobs))


@asynccontextmanager
async def others(figures: Figures, client: Client, group: str) -> AsyncIterator[None]:
    """Note how long other calls take to be answered meanwhile."""
    asked = {"/healthz": list[float](), "/v1/jobs?limit=1": list[float]()}
    tasks = [asyncio.create_task(delays(client, path, found)) for path, found in asked.items()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for path, found in asked.items():
        for share in _NAMES:
            name = f"GET {path} meanwhile: {_NAMES[share]}"
            figures.add(group, name, 1000 * percentile(found, share), "ms", at_most=_MOST_DELAY_MS)


async def _content(size: int) -> AsyncIterator[bytes]:
    for block in samples.blocks(samples.requests(size), _BLOCK):
        yield block


def _large_body() -> bytes:
    count = _LARGE_BODY // samples.LINE_BYTES
    requests = [msgspec.Raw(line) for line in samples.requests(count)]
    return msgspec.json.encode({"alias": "summarize", "requests": requests})

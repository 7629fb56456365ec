"""One job from the door to its end, in this process: `python -m benchmarks.one_job`. Prints JSON.

Storage is real, the provider answers at once. A process of its own, so that the peak of its memory is the
job's. Made by `benchmarks.stages`.
"""

import argparse
import asyncio
import dataclasses
import json
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from benchmarks import memory, samples
from benchmarks.instant import InstantProvider, OneProvider
from benchmarks.loop_lag import Lags, loop_lags, percentile
from local.servicebus.definitions import connection_string
from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.azure.tables import AzureTables
from shared.bootstrap import App, Parts, build, real_parts
from shared.domain.catalog import Tenant
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job
from shared.services.chunks.collect_chunk import CollectChunk
from shared.services.chunks.submit_chunk import SubmitChunk
from shared.services.settling.settle_chunk import SettleChunk
from shared.stores.jobs import job_id
from shared.wire import paths
from shared.wire.bodies import read_job

CATALOG = Path(__file__).parent.parent / "local" / "catalog.yaml"
TENANT = Tenant(id=TenantId("support"))


@dataclass(slots=True)
class Stage:
    """`cpu`: seconds that this process computed. `peak`: MB of the whole process.

    Lags in seconds: the longest and the 99th percentile.
    """

    seconds: float = 0.0
    cpu: float = 0.0
    peak: float = 0.0
    lag: float = 0.0
    lag_99: float = 0.0


@dataclass(slots=True)
class Stages:
    by_name: dict[str, Stage] = field(default_factory=dict)

    @asynccontextmanager
    async def measured(self, name: str) -> AsyncIterator[None]:
        """Adds up over several uses of one name."""
        stage = self.by_name.setdefault(name, Stage())
        memory.forget_peak()
        begun, computed = time.perf_counter(), time.process_time()
        lags = Lags()
        try:
            async with loop_lags() as lags:
                yield
        finally:
            stage.seconds += time.perf_counter() - begun
            stage.cpu += time.process_time() - computed
            stage.peak = max(stage.peak, memory.peak())
            stage.lag = max(stage.lag, lags.most)
            stage.lag_99 = max(stage.lag_99, percentile(lags.seconds, 0.99))

    def timed[**Given, Answer](
        self, name: str, use_case: Callable[Given, Awaitable[Answer]]
    ) -> Callable[Given, Awaitable[Answer]]:
        async def call(*given: Given.args, **named: Given.kwargs) -> Answer:
            async with self.measured(name):
                return await use_case(*given, **named)

        return call


class NoEngine:
    """The benchmark drives the job itself."""

    async def start(self, job_id: JobId, run: int, *, tenant: TenantId) -> None:
        return

    async def wake(self, job_id: JobId, run: int) -> None:
        return

    async def forget_finished(self) -> None:
        return


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    parts: Parts
    app: App
    stages: Stages
    provider: InstantProvider

    async def __call__(self, body: dict[str, Any]) -> Job:
        content = json.dumps(body).encode()
        new_id = job_id(int(time.time() * 1000), f"{time.time_ns() % 2**60:016x}")
        async with self.stages.measured("accept"):
            posted = read_job(content)
            job = await self.app.accept_job(TENANT, posted, len(content), new_id, NoEngine())
        while True:
            async with self.stages.measured("plan"):
                planned = await self.app.plan_round(job.tenant, job.id, 1)
            if not planned.chunks:
                break
            for n in planned.chunks:
                await self._advance(job, n)
        async with self.stages.measured("finish"):
            await self.app.finish_job(job.tenant, job.id, 1)
        self.stages.by_name["stage"].seconds -= self.provider.seconds
        self.stages.by_name["stage"].cpu -= self.provider.cpu
        return (await self.app.read_job.one(job.tenant, job.id)).job

    async def _advance(self, job: Job, n: int) -> None:
        while (wait := await self.app.advance_chunk(job.tenant, job.id, n, 1)) is not None:
            await asyncio.sleep(min(wait.total_seconds(), 0.01))  # the durable timer's part


def make_run(storage: StorageConnection, folder: Path, tokens: int | None) -> Run:
    provider = InstantProvider(folder=folder, tokens=tokens)
    env = {
        "POSTERN_STORAGE": "-",
        # Nothing listens there: a job of the hours lane needs no queue.
        "ServiceBusConnection": connection_string(9),
        "POSTERN_CATALOG": str(CATALOG),
        "SIMULATOR_URL": "http://127.0.0.1:9",
        # As the stack has it: its sweep looks at the same storage, and takes over a job that beats more rarely.
        "POSTERN_STUCK_SECONDS": "10",
    }
    parts = dataclasses.replace(
        real_parts(env),
        tables=AzureTables(storage),
        blobs=AzureBlobs(storage, SystemClock()),
        providers=OneProvider(provider),
    )
    app, stages = build(parts), Stages()
    advance = dataclasses.replace(
        app.advance_chunk,
        submit=cast("SubmitChunk", stages.timed("stage", app.advance_chunk.submit)),
        collect=cast("CollectChunk", stages.timed("collect", app.advance_chunk.collect)),
        settle=cast("SettleChunk", stages.timed("settle", app.advance_chunk.settle)),
    )
    app = dataclasses.replace(app, advance_chunk=advance)
    return Run(parts=parts, app=app, stages=stages, provider=provider)


async def upload_job(run: Run, size: int, line_bytes: int) -> dict[str, Any]:
    """The body of a job over an upload of `size` lines."""
    made, _ = await run.app.make_upload(TENANT.id)

    async def content() -> AsyncIterator[bytes]:
        for block in samples.blocks(samples.requests(size, line_bytes=line_bytes)):
            yield block

    await run.parts.blobs.write(paths.upload(TENANT.id, made.id), content())
    return {"alias": "summarize", "upload_id": made.id, "params": {"max_output_tokens": 100}}


async def reference_job(run: Run, size: int) -> dict[str, Any]:
    """The body of a job over `size` documents of 5,000 to 50,000 tokens (4 bytes each)."""
    inputs = []
    for n in range(size):
        path = f"bench/{n:05}.txt"
        text = samples.text(n, 20_000 + 180_000 * (n % 10) // 9)

        async def content(text: str = text) -> AsyncIterator[bytes]:
            yield text.encode()

        await run.parts.blobs.write(f"inputs/{TENANT.id}/{path}", content(), content_type="text/plain")
        inputs.append({"custom_id": f"d-{n}", "vars": {"text": {"blob": path}}})
    return {"alias": "summarize", "inputs": inputs, "template": {"user": "Summarize:\n{text}"}}


async def main(given: argparse.Namespace) -> None:
    storage = StorageConnection(StorageAccount(connection_string=given.storage))
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as folder:
        run = make_run(storage, Path(folder), given.tokens)
        if given.references:
            body = await reference_job(run, given.size)
        else:
            body = await upload_job(run, given.size, given.line_bytes)
        idle = memory.resident()
        job = await run(body)
        await run.parts.extractor.close()
        await storage.close()
        if job.totals is None or job.totals.tally.total != given.size:
            raise SystemExit(f"{given.size} requests went in, and {job.totals} came out")
    stages = {name: asdict(stage) for name, stage in run.stages.by_name.items()}
    print(json.dumps({"idle": idle, "stages": stages}))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--storage", required=True)
    arguments.add_argument("--size", type=int, required=True)
    arguments.add_argument("--line-bytes", type=int, default=samples.LINE_BYTES)
    arguments.add_argument("--tokens", type=int)
    arguments.add_argument("--references", action="store_true")
    asyncio.run(main(arguments.parse_args()))

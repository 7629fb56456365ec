"""The hours lane of the demo: submit the samples, wait for them, fetch what came of them."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from local.demo.client import Postern
from local.demo.samples import AGAIN, EVERYWHERE, INVOICES, TICKETS, TRIAGE, Sample
from local.demo.trouble import DemoFailed
from local.demo.views import JobView, ReportView, ResultView

LOOK_SECONDS = 0.3
PATIENCE_SECONDS = 300.0

# Told of every look at a job.
Watcher = Callable[[Sample, JobView], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A job with everything that was fetched of it; `folder` has the files."""

    sample: Sample
    job: JobView
    report: ReportView
    results: tuple[ResultView, ...]
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class HoursLane:
    """`clients` has one for each tenant; results go to a folder for each job below `out`."""

    clients: Mapping[str, Postern]
    out: Path
    watch: Watcher

    async def run(self) -> list[Finished]:
        """All samples, in their order. Raises `DemoFailed` when one does not come to its end."""
        first = await asyncio.gather(*(self._one(sample) for sample in (TICKETS, TRIAGE, INVOICES)))
        # Sent while the first is under way it would wait for those answers; after it, it finds them.
        return [*first, await self._one(AGAIN)]

    async def everywhere(self) -> list[Finished]:
        """The same job on every provider, side by side."""
        return await asyncio.gather(*(self._one(sample) for sample in EVERYWHERE))

    async def _one(self, sample: Sample) -> Finished:
        client = self.clients[sample.tenant]
        job_id = await client.submit(await _whole_body(client, sample))
        job = await self._until_finished(client, sample, job_id)
        return await self._fetch(client, sample, job)

    async def _until_finished(self, client: Postern, sample: Sample, job_id: str) -> JobView:
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            job = await client.job(job_id)
            self.watch(sample, job)
            if job.finished_at is not None:
                return job
            await asyncio.sleep(LOOK_SECONDS)
        raise DemoFailed(
            f"the job {sample.name} ({job_id}) is not finished after {PATIENCE_SECONDS:.0f} s: it is {job.status},"
            f" with {job.answered} of {job.submitted} answered"
        )

    async def _fetch(self, client: Postern, sample: Sample, job: JobView) -> Finished:
        folder = self.out / sample.name
        folder.mkdir(parents=True, exist_ok=True)
        report, content = await client.report(job.id)
        (folder / "report.json").write_bytes(msgspec.json.format(content, indent=2) + b"\n")
        for form in ("jsonl", "csv"):
            await client.download_results(job.id, form, folder / f"results.{form}")
        return Finished(
            sample=sample, job=job, report=report, results=_read(folder / "results.jsonl"), folder=folder
        )


async def _whole_body(client: Postern, sample: Sample) -> dict[str, object]:
    if sample.upload is not None:
        return {**sample.body(), "upload_id": await client.upload(sample.upload)}
    return {**sample.body(), "inputs": sample.inputs()}


def _read(file: Path) -> tuple[ResultView, ...]:
    with file.open("rb") as lines:
        return tuple(msgspec.json.decode(line, type=ResultView) for line in lines)

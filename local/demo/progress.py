"""What is seen while the jobs run: bars on a terminal, plain lines anywhere else."""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from local.demo.samples import Sample
from local.demo.views import JobView

_PHRASES = {
    "accepted": "accepted",
    "planning": "reading the input",
    "running": "with the provider",
    "settling": "adding up",
}
# Of a job's way from none to all, in plain lines.
_LINE_EVERY = 0.25


class Display(Protocol):
    def during(self, what: str, *, done: str) -> AbstractContextManager[None]:
        """`what` goes on inside the block, without a measure; `done` is what can be said after it."""

    def watching(self, samples: Sequence[Sample]) -> AbstractContextManager[None]:
        """Jobs run inside the block."""

    def see(self, sample: Sample, job: JobView) -> None: ...


def phrase(job: JobView) -> str:
    """Where the job is, in a few words."""
    if job.finished_at is not None:
        return job.status
    if job.waiting is not None:
        return f"waiting: {job.waiting.reason}"
    if job.status == "running" and job.round > 1:
        return f"round {job.round}: {job.pending} again"
    return _PHRASES.get(job.status, job.status)


class Bars:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("  {task.description:<9}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[phrase]}"),
            console=console,
        )
        self._tasks: dict[str, TaskID] = {}

    @contextmanager
    def during(self, what: str, *, done: str) -> Iterator[None]:
        began = time.monotonic()
        with self._console.status(f"{what} ..."):
            yield
        self._console.print(f"  [green]✓[/] {done} [dim]({time.monotonic() - began:.0f} s)[/]")

    @contextmanager
    def watching(self, samples: Sequence[Sample]) -> Iterator[None]:
        for sample in samples:
            self._tasks[sample.name] = self._progress.add_task(
                sample.name, total=None, phrase="", start=False
            )
        self._console.print()
        with self._progress:
            yield

    def see(self, sample: Sample, job: JobView) -> None:
        task = self._tasks[sample.name]
        self._progress.start_task(task)
        self._progress.update(task, total=job.submitted, completed=job.answered, phrase=phrase(job))
        if job.finished_at is not None:
            self._progress.stop_task(task)


class Lines:
    """A line when something has changed that is worth one."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()
        self._said: dict[str, tuple[str, int]] = {}

    @contextmanager
    def during(self, what: str, *, done: str) -> Iterator[None]:
        self._say(f"{what} ...")
        yield
        self._say(done)

    @contextmanager
    def watching(self, samples: Sequence[Sample]) -> Iterator[None]:
        yield

    def see(self, sample: Sample, job: JobView) -> None:
        share = job.answered / job.submitted if job.submitted else 0.0
        news = (phrase(job), int(share / _LINE_EVERY))
        if self._said.get(sample.name) == news:
            return
        self._said[sample.name] = news
        count = "" if job.submitted is None else f"{job.answered:>4} of {job.submitted}"
        self._say(f"{sample.name:<9} {phrase(job):<20} {count}".rstrip())

    def _say(self, text: str) -> None:
        passed = time.monotonic() - self._began
        self._console.print(f"  {passed:>4.0f} s  {text}", markup=False, highlight=False)


def display_for(console: Console) -> Display:
    return Bars(console) if console.is_terminal else Lines(console)

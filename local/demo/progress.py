"""What is seen while jobs and documents are under way: bars on a terminal, plain lines anywhere else."""

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
_DOCUMENTS = "documents"
# Of the longest name.
_WIDTH = len("openai_compatible")
# Of a job's way from none to all, in plain lines.
_LINE_EVERY = 0.25


class Display(Protocol):
    def during(self, what: str, *, done: str) -> AbstractContextManager[None]:
        """`what` goes on inside the block, without a measure; `done` is what can be said after it."""

    def watching(self, samples: Sequence[Sample], *, documents: int) -> AbstractContextManager[None]:
        """Jobs run, and so many documents are answered, inside the block."""

    def see(self, sample: Sample, job: JobView) -> None: ...

    def see_documents(self, answered: int, dropped: int) -> None: ...


def phrase(job: JobView) -> str:
    """Where the job is, in a few words."""
    if job.finished_at is not None:
        return job.status
    if job.waiting is not None:
        return f"waiting: {job.waiting.reason}"
    if job.status == "running" and job.round > 1:
        return f"round {job.round}: {job.pending} again"
    return _PHRASES.get(job.status, job.status)


def _documents_phrase(answered: int, dropped: int) -> str:
    return "completed" if answered == dropped else "dropped, being read"


class Bars:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn(f"  {{task.description:<{_WIDTH}}}"),
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
    def watching(self, samples: Sequence[Sample], *, documents: int) -> Iterator[None]:
        for sample in samples:
            self._tasks[sample.label] = self._progress.add_task(
                sample.label, total=None, phrase="", start=False
            )
        self._tasks[_DOCUMENTS] = self._progress.add_task(_DOCUMENTS, total=documents, phrase="dropped")
        self._console.print()
        with self._progress:
            yield

    def see(self, sample: Sample, job: JobView) -> None:
        task = self._tasks[sample.label]
        self._progress.start_task(task)
        self._progress.update(task, total=job.submitted, completed=job.answered, phrase=phrase(job))
        if job.finished_at is not None:
            self._progress.stop_task(task)

    def see_documents(self, answered: int, dropped: int) -> None:
        task = self._tasks[_DOCUMENTS]
        self._progress.update(task, completed=answered, phrase=_documents_phrase(answered, dropped))
        if answered == dropped:
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
    def watching(self, samples: Sequence[Sample], *, documents: int) -> Iterator[None]:
        yield

    def see(self, sample: Sample, job: JobView) -> None:
        self._news(sample.label, phrase(job), job.answered, job.submitted)

    def see_documents(self, answered: int, dropped: int) -> None:
        self._news(_DOCUMENTS, _documents_phrase(answered, dropped), answered, dropped)

    def _news(self, name: str, where: str, done: int, total: int | None) -> None:
        share = done / total if total else 0.0
        news = (where, int(share / _LINE_EVERY))
        if self._said.get(name) == news:
            return
        self._said[name] = news
        count = "" if total is None else f"{done:>4} of {total}"
        self._say(f"{name:<{_WIDTH}} {where:<20} {count}".rstrip())

    def _say(self, text: str) -> None:
        passed = time.monotonic() - self._began
        self._console.print(f"  {passed:>4.0f} s  {text}", markup=False, highlight=False)


def display_for(console: Console) -> Display:
    return Bars(console) if console.is_terminal else Lines(console)

"""`python -m benchmarks [--quick] [--only NAME ...]`: a table here, the figures in benchmarks/latest.json."""

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from benchmarks import documents, lines, openai_files, reads, stack, stages
from benchmarks.figures import Figures
from benchmarks.machine import load, machine
from local.stack import Stack, start_stack

LATEST: Final = Path(__file__).parent / "latest.json"
NAMES: Final = ("lines", "stages", "many", "references", "stack", "openai", "reads", "documents")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    lines: int
    stages: tuple[int, ...]
    runs: int
    many: int
    references: int
    stack: int
    reads: int
    documents: int


FULL: Final = Sizes(
    lines=20_000,
    stages=(5_000, 50_000, 100_000),
    runs=3,
    many=1_000_000,
    references=3_000,
    stack=50_000,
    reads=100_000,
    documents=300,
)
QUICK: Final = Sizes(
    lines=5_000,
    stages=(5_000,),
    runs=1,
    many=20_000,
    references=50,
    stack=2_000,
    reads=1_000,
    documents=40,
)


def plan(figures: Figures, here: Stack, sizes: Sizes) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
    """What is measured under each name."""

    async def of_lines() -> None:
        lines.measure(figures, count=sizes.lines)

    async def of_stages() -> None:
        for size in sizes.stages:
            await stages.measure(figures, storage=here.storage, size=size, runs=sizes.runs)

    return {
        "lines": of_lines,
        "stages": of_stages,
        "many": lambda: stages.measure_many(figures, storage=here.storage, size=sizes.many),
        "references": lambda: stages.measure_references(figures, storage=here.storage, size=sizes.references),
        "stack": lambda: stack.measure(figures, stack=here, size=sizes.stack),
        "openai": lambda: openai_files.measure(figures, stack=here, size=sizes.stack),
        "reads": lambda: reads.measure(figures, stack=here, reads=sizes.reads),
        "documents": lambda: documents.measure(figures, count=sizes.documents),
    }


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--quick", action="store_true", help="small sizes, under two minutes")
    options.add_argument(
        "--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME", help=", ".join(NAMES)
    )
    given = options.parse_args()
    figures, console, loads = Figures(), _console(), [load()]
    with console.status("starting the local stack") as status, start_stack() as here:
        for name, measure in plan(figures, here, QUICK if given.quick else FULL).items():
            if name in given.only:
                status.update(f"measuring {name}")
                asyncio.run(measure())
                loads.append(load())
                _write(figures, loads, quick=given.quick)
    console.print(figures.table())
    console.print(f"load {', '.join(f'{each:.1f}' for each in loads)}; written to benchmarks/{LATEST.name}")


def _write(figures: Figures, loads: list[float], *, quick: bool) -> None:
    """After every part: a run of an hour is not lost by what comes last."""
    found = {**machine(), "quick": quick, "load": [round(each, 1) for each in loads]}
    LATEST.write_text(json.dumps({**found, "figures": figures.document()}, indent=1) + "\n")


def _console() -> Console:
    """A pipe has no width, and the table needs some."""
    return Console() if sys.stdout.isatty() else Console(width=120)


if __name__ == "__main__":
    main()

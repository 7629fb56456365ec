"""`postern capacity`."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from cli import catalogs
from cli.capacity.load import Load, Use, uses
from cli.scale.limits import FORMS
from cli.scale.reckoning import Work, size

# What a table with all columns takes; below it, a list.
WIDTH = 120
_COUNT = click.IntRange(0, 10**12)


@click.command()
@catalogs.OPTION
@click.option("--requests-per-day", type=_COUNT, default=0, help="Requests of the hours lane.")
@click.option("--documents-per-day", type=_COUNT, default=0, help="Documents of the minutes lane.")
@click.option(
    "--tokens",
    type=click.IntRange(1, 10**9),
    default=Work().tokens,
    show_default=True,
    help="Of one, in and out.",
)
@click.option(
    "--requests-per-job",
    type=click.IntRange(1, 100_000),
    default=1_000,
    show_default=True,
    help="On average.",
)
@click.option(
    "--hours-per-batch",
    type=click.FloatRange(0.1, 168),
    default=24,
    show_default=True,
    help="Until it is done.",
)
@click.option(
    "--busy-hours",
    type=click.FloatRange(0.1, 24),
    default=24,
    show_default=True,
    help="All documents of a day come in so many hours.",
)
@click.option(
    "--form",
    type=click.Choice([form.name for form in FORMS]),
    default="flex",
    show_default=True,
    help="Where it runs.",
)
@click.option("--json", "as_text", is_flag=True, help="Figures for programs instead of a table.")
def capacity(
    catalog: Path,
    requests_per_day: int,
    documents_per_day: int,
    tokens: int,
    requests_per_job: int,
    hours_per_batch: float,
    busy_hours: float,
    form: str,
    as_text: bool,
) -> None:
    """Which limit a day's work meets first, and what to change then.

    The answer comes first, then every limit, the fullest at the top: what the work takes of it, what there is, and
    the part. All the work is taken to be one tenant's, which is the worst case for tables.

    \b
      postern capacity --requests-per-day 1000000 --hours-per-batch 6
      postern capacity --documents-per-day 200000 --busy-hours 8 --form kubernetes
    """
    if not (requests_per_day or documents_per_day):
        raise click.UsageError(
            "say how much there is a day: --requests-per-day, --documents-per-day, or both"
        )
    known = catalogs.read(catalog)
    load = Load(
        requests=requests_per_day,
        documents=documents_per_day,
        tokens=tokens,
        requests_of_a_job=requests_per_job,
        hours=hours_per_batch,
        busy_hours=busy_hours,
    )
    sizing = size(known, Work(tokens=tokens), next(each for each in FORMS if each.name == form))
    found = uses(load, known, sizing)
    if as_text:
        click.echo(json.dumps([_as_json(use) for use in found], indent=2))
    else:
        _print(Console(highlight=False), found)


def _as_json(use: Use) -> dict[str, object]:
    return {
        "limit": use.name,
        "needed": use.needed,
        "available": use.available,
        "part": use.part,
        "then": use.then,
    }


def _print(console: Console, found: Sequence[Use]) -> None:
    console.print(_answer(found))
    if console.width >= WIDTH:
        console.print(_table(found))
        return
    for use in found:
        console.print(f"\n{use.name}")
        console.print(Padding(_lines(use), (0, 0, 0, 2)))


def _answer(found: Sequence[Use]) -> str:
    """The limit that is met first. What every kind of work takes of the storage account is always known."""
    first = next(use for use in found if use.part is not None)
    told = "Not enough" if (first.part or 0) > 1 else "Met first"
    unknown = ", ".join(use.name for use in found if use.part is None)
    beside = f" The catalogue does not say how much there is of: {unknown}." if unknown else ""
    return f"{told}: {first.name}, {_figures(first)[2]}. What to change: {first.then}.{beside}"


def _lines(use: Use) -> Table:
    """For terminals that are too narrow for the table."""
    needed, available, part = _figures(use)
    lines = Table.grid(padding=(0, 2))
    lines.add_row("needed", f"{needed} ({use.how})")
    lines.add_row("there is", available)
    if part:
        lines.add_row("part", part)
    lines.add_row("when it is met", use.then)
    return lines


def _table(found: Sequence[Use]) -> Table:
    table = Table(pad_edge=False)
    for title in ("limit", "what the work takes"):
        table.add_column(title)
    for title in ("needed", "there is", "part"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("when it is met")
    for use in found:
        table.add_row(use.name, use.how, *_figures(use), use.then)
    return table


def _figures(use: Use) -> tuple[str, str, str]:
    if use.available is None or use.part is None:
        return number(use.needed), "not known", ""
    return number(use.needed), number(use.available), f"{use.part:.1%}"


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}"

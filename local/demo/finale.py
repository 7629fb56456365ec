"""The page at the end of the demo."""

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from local.demo.document_tables import broken_table, minutes_table, readings_table
from local.demo.hours_lane import Finished
from local.demo.run import Run
from local.demo.samples import TRIAGE
from local.demo.tables import answers_table, hours_table, providers_table, trouble_table


def finale(run: Run, out: Path) -> Group:
    """The tables of both lanes, and where the files are."""
    everywhere = (Text(), providers_table(run.everywhere))
    return Group(*_hours(run), *everywhere, *_minutes(run), Text(), _files(run, out))


def summary(run: Run) -> Group:
    """What came of both lanes, and nothing more."""
    return Group(
        *(hours_table(run.finished), _note(), Text()),
        *(providers_table(run.everywhere), Text()),
        *(minutes_table(run.answered), _synchronous()),
    )


def verdict(run: Run, seconds: float | None = None) -> Text:
    """The one sentence that says it all. Only for a demo that has nothing to complain about."""
    inputs = sum(each.report.submitted or 0 for each in (*run.finished, *run.everywhere))
    told = f"Every one of {inputs:,} inputs and {len(run.answered):,} documents has an outcome"
    took = "" if seconds is None else f" ({seconds:.0f} s)"
    return Text(f"\n{told}{took}.", style="bold green")


def _hours(run: Run) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(), hours_table(run.finished), _note()]
    for each in run.finished:
        if each.sample is TRIAGE:
            parts += [Text(), trouble_table(each, run.planted), _rows(each)]
    return [*parts, Text(), answers_table(run.finished[:3])]


def _minutes(run: Run) -> list[RenderableType]:
    return [
        *(Text(), minutes_table(run.answered), _synchronous()),
        *(Text(), broken_table(run.answered)),
        *(Text(), readings_table(run.answered)),
    ]


def _synchronous() -> Text:
    return Text(
        "Documents are answered within minutes, one call each, at the synchronous price: nothing is saved here."
        " Those in voices have gathered and gone out as a job, at half of it.",
        style="dim",
    )


def _note() -> Text:
    return Text(
        "Saved: against the synchronous price of the same tokens. The prices are list prices;"
        " the provider is a simulator, and nothing was spent.",
        style="dim",
    )


def _rows(finished: Finished) -> Text:
    rows = finished.report.rows
    return Text(
        f"The provider returned {rows['received']} rows, {rows['duplicate']} of them a second time,"
        f" and left out {rows['missing']}. What another attempt may mend was sent again, alone.",
        style="dim",
    )


def _files(run: Run, out: Path) -> Text:
    names = ", ".join([*(each.sample.name for each in run.finished), "one for each provider in everywhere"])
    return Text.assemble(
        ("Results: ", "bold"),
        f"{out}/ has a folder for each job ({names})\n",
        "         with results.jsonl, results.csv and report.json, and documents/ with the result of each",
    )

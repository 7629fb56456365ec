"""The page at the end of the demo."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from local.demo.lane import Finished
from local.demo.samples import TRIAGE, Planted
from local.demo.tables import answers_table, hours_table, trouble_table


def finale(finished: Sequence[Finished], planted: Sequence[Planted], out: Path) -> Group:
    """The tables, and where the files are."""
    parts: list[RenderableType] = [Text(), hours_table(finished), _note()]
    for each in finished:
        if each.sample is TRIAGE:
            parts += [Text(), trouble_table(each, planted), _rows(each)]
    parts += [Text(), answers_table(finished[:3]), Text(), _files(finished, out)]
    return Group(*parts)


def verdict(finished: Sequence[Finished], seconds: float) -> Text:
    """The one sentence that says it all. Only for a demo that has nothing to complain about."""
    submitted = sum(each.report.submitted or 0 for each in finished)
    return Text(f"\nEvery one of {submitted:,} inputs has an outcome ({seconds:.0f} s).", style="bold green")


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


def _files(finished: Sequence[Finished], out: Path) -> Text:
    names = ", ".join(each.sample.name for each in finished)
    return Text.assemble(
        ("Results: ", "bold"),
        f"{out}/ has a folder for each job ({names})\n",
        "         with results.jsonl, results.csv and report.json",
    )

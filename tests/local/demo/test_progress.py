"""What is said of a job on its way."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from local.demo.document_tables import broken_table, minutes_table, readings_table
from local.demo.documents import sample_documents
from local.demo.parts import missing_parts
from local.demo.progress import Lines, display_for, phrase
from local.demo.samples import EVERYWHERE, TICKETS, TRIAGE, planted_trouble
from local.demo.tables import hours_table, money, providers_table
from local.demo.views import JobView, WaitingView
from tests.local.demo.builders import a_chunk, a_job, answered, finished


@pytest.mark.parametrize(
    ("job", "answered"),
    [
        (a_job(submitted=None), 0),
        (a_job(chunks=(a_chunk(completed=4),)), 4),
        (a_job(chunks=(a_chunk(status="ended", completed=10),)), 10),
        (a_job(pending=1, chunks=(a_chunk(status="settled", completed=10), a_chunk(attempt=2))), 9),
    ],
    ids=["not read yet", "at the provider", "back, and not settled", "in the second round"],
)
def test_answered_counts_settled_inputs_and_rows_that_are_done(job: JobView, answered: int) -> None:
    assert job.answered == answered


def test_a_further_round_is_told_with_what_it_sends_again() -> None:
    assert phrase(a_job(pending=3, chunks=(a_chunk(attempt=2),))) == "round 2: 3 again"


def test_a_job_that_is_held_says_why() -> None:
    held = JobView(
        id="job_1",
        status="waiting",
        finished_at=None,
        counts={"submitted": None, "pending": None},
        chunks=[],
        waiting=WaitingView(reason="same_run"),
    )

    assert phrase(held) == "waiting: same_run"


def test_lines_are_written_for_news_only() -> None:
    written = io.StringIO()
    lines = Lines(Console(file=written, width=100))

    for completed in (0, 1, 1, 5, 10):
        lines.see(TICKETS, a_job(chunks=(a_chunk(completed=completed),)))
    lines.see(TICKETS, a_job(status="completed", pending=0))

    said = [line.split("tickets")[1].split() for line in written.getvalue().splitlines()]
    assert [words[-3:] for words in said] == [
        ["0", "of", "10"],
        ["5", "of", "10"],
        ["10", "of", "10"],
        ["10", "of", "10"],
    ]
    assert said[-1][0] == "completed"


def test_without_a_terminal_there_are_lines() -> None:
    assert isinstance(display_for(Console(file=io.StringIO())), Lines)


@pytest.mark.parametrize("columns", [60, 80, 89, 90, 100])
def test_the_jobs_can_be_read_at_every_width(columns: int) -> None:
    page = Console(file=io.StringIO(), width=columns, record=True)

    page.print(hours_table([finished(TICKETS), finished(TRIAGE, planted=tuple(planted_trouble()))]))

    text = page.export_text()
    assert max(map(len, text.splitlines())) <= columns
    for word in ("tickets", "240 succeeded", "content_filter", "1,200 in", "$0.0123", "50%", "together"):
        assert word in text
    # A table has edges, a list has none.
    assert ("╭" in text) == (columns >= 90)
    assert "…" not in text


def test_in_a_list_each_job_has_its_own_lines() -> None:
    page = Console(file=io.StringIO(), width=60, record=True)

    page.print(hours_table([finished(TICKETS)]))

    lines = [line.split() for line in page.export_text().splitlines()]
    start = lines.index(["tickets"])
    assert ["Outcomes", "240", "succeeded"] in lines[start:]
    assert ["Tokens", "1,200", "in,", "34", "out"] in lines[start:]
    assert ["Cost", "$0.0123"] in lines[start:]
    assert ["Saved", "$0.0123,", "50%"] in lines[start:]


def test_the_table_of_providers_fits_eighty_columns_and_counts_outcomes() -> None:
    page = Console(file=io.StringIO(), width=80, record=True)

    page.print(providers_table([finished(one, planted=tuple(planted_trouble(one))) for one in EVERYWHERE]))

    lines = page.export_text().splitlines()
    assert max(map(len, lines)) <= 80
    row = next(line for line in lines if "openai_compatible" in line)
    assert "9 succeeded, 1 refused" in row
    assert "$0.0123" in row


def test_documents_are_counted_in_lines_as_they_are_answered() -> None:
    written = io.StringIO()
    lines = Lines(Console(file=written, width=100))

    for done in (0, 1, 2, 4, 4):
        lines.see_documents(done, 4)

    assert [line.split()[-3:] for line in written.getvalue().splitlines()] == [
        [str(done), "of", "4"] for done in (0, 1, 2, 4)
    ]


def test_the_tables_of_documents_fit_eighty_columns() -> None:
    page = Console(file=io.StringIO(), width=80, record=True)
    documents = [answered(document) for document in sample_documents()]

    for table in (minutes_table(documents), broken_table(documents), readings_table(documents)):
        page.print(table)

    text = page.export_text()
    assert max(map(len, text.splitlines())) <= 80
    for word in (
        "8 succeeded",
        "1 failed: encrypted",
        "failed: unsupported_type",
        "no such pipeline",
        "$0.0076",
    ):
        assert word in text


def test_a_price_that_is_not_known_is_not_taken_for_nothing() -> None:
    assert money(None) == "unknown"


def test_what_is_missing_is_named_with_what_to_do(tmp_path: Path) -> None:
    node, azurite = missing_parts(azurite=tmp_path / "azurite", path=str(tmp_path))

    assert "install it" in node
    assert "make install" in azurite

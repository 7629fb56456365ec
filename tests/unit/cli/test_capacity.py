"""`postern capacity`: which limit a day's work meets first."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.__main__ import main
from cli.capacity import limits
from shared.settings import NAMES
from shared.stores.pulses import SHARDS

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ("--catalog", str(ROOT / "catalog.sample.yaml"))


def run(*arguments: str, columns: int = 150) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, ["capacity", *SAMPLE, *arguments])


def told(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return {each["limit"]: each for each in json.loads(result.output)}


def test_a_million_requests_that_take_a_day_meet_the_enqueued_tokens_first() -> None:
    found = told("--requests-per-day", "1000000")

    first = next(iter(found.values()))
    assert (first["limit"], first["needed"], first["available"]) == ("enqueued tokens", 2e9, 1e9)
    assert first["part"] == 2
    assert found["files of a model account"]["needed"] == 1000
    assert found["looks at batches a second"]["needed"] == pytest.approx(1000 / 300)


def test_batches_that_are_done_sooner_take_less_of_the_quota() -> None:
    found = told("--requests-per-day", "1000000", "--hours-per-batch", "6")

    assert found["enqueued tokens"]["needed"] == 5e8


def test_small_jobs_are_many_batches_to_look_at_and_many_files() -> None:
    found = told("--requests-per-day", "1000000", "--requests-per-job", "10", "--tokens", "10")

    assert list(found)[:2] == ["looks at batches a second", "files of a model account"]
    assert found["files of a model account"]["part"] == 10


def test_documents_meet_what_a_minute_gives_in_their_busy_hours() -> None:
    found = told("--documents-per-day", "100000", "--busy-hours", "2", "--form", "kubernetes")

    assert next(iter(found)) == "tokens a minute"
    assert found["tokens a minute"]["needed"] == pytest.approx(100_000 / 120 * 2000)
    assert found["operations a second on the bus"]["needed"] == pytest.approx(100_000 / 7200 * 6)
    assert "enqueued tokens" not in found
    assert "cores of the region" not in found


def test_the_cores_of_the_region_count_on_flex() -> None:
    assert told("--documents-per-day", "1")["cores of the region"]["needed"] == 40


def test_what_the_catalogue_does_not_say_comes_last(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    text = (ROOT / "catalog.sample.yaml").read_text()
    catalog.write_text(text.replace("limits: {enqueued_tokens: 1000000000}", ""))

    result = CliRunner().invoke(
        main, ["capacity", "--catalog", str(catalog), "--requests-per-day", "10", "--json"]
    )

    assert json.loads(result.output)[-1] == {
        "limit": "enqueued tokens",
        "needed": 20_000,
        "available": None,
        "part": None,
        "then": json.loads(result.output)[-1]["then"],
    }


def test_people_get_a_table() -> None:
    shown = run("--requests-per-day", "1000000").output

    assert "1,000,000 x 2,000 x 24 h / 24 h" in shown
    assert "200.0%" in shown
    assert shown.startswith("Not enough: enqueued tokens, 200.0%. What to change: ask for more")
    assert "┃" in shown


@pytest.mark.parametrize("columns", [60, 80, 119, 120, 200])
def test_it_keeps_to_the_width_of_the_terminal(columns: int) -> None:
    shown = run("--requests-per-day", "1000000", "--documents-per-day", "100000", columns=columns).output

    assert max(map(len, shown.splitlines())) <= columns
    assert "2,000,000,000" in shown
    assert ("┃" in shown) == (columns >= 120)
    assert shown.count("files of a model account") == 1


def test_what_is_not_known_is_no_answer(tmp_path: Path) -> None:
    catalog = tmp_path / "catalog.yaml"
    text = (ROOT / "catalog.sample.yaml").read_text()
    catalog.write_text(text.replace("limits: {enqueued_tokens: 1000000000}", ""))

    shown = run("--requests-per-day", "10", "--catalog", str(catalog)).output

    assert shown.startswith("Met first: looks at batches a second, 0.0%.")
    assert "does not say how much there is of: enqueued tokens." in " ".join(shown.split())
    assert "not known" in shown


def test_without_any_work_there_is_nothing_to_say() -> None:
    assert run().exit_code == 2


def test_the_figures_are_those_of_the_app() -> None:
    durable = json.loads((ROOT / "host.json").read_text())["extensions"]["durableTask"]

    assert durable["storageProvider"]["partitionCount"] == limits.PARTITIONS
    assert durable["maxConcurrentActivityFunctions"] == limits.ACTIVITIES_AT_ONCE
    assert NAMES["POSTERN_POLL_SECONDS"].default == str(limits.SECONDS_BETWEEN_LOOKS)
    assert limits.PULSE_SHARDS == SHARDS

"""Results in every form, whole and in part, and the report that they add up to."""

import csv
import io

import pytest
from arro3.io import read_parquet

from tests.integration.postern import OUTCOMES, Caller, Json, assert_balanced, chat, problem
from tests.integration.provider import Provider

pytestmark = pytest.mark.stack

ODD = 'Line one,\n"quoted" and\ttabbed; ünïcode \u2028 end.'


@pytest.fixture(scope="module")
def mixed(support: Caller, simulator: Provider) -> Json:
    """A finished job with every kind of row that needs one round only."""
    simulator.clear()
    simulator.answer("mixed-odd", "success", text=ODD)
    simulator.answer("mixed-filtered", "content_filter")
    simulator.answer("mixed-refused", "refusal")
    simulator.answer("mixed-cut", "truncated")
    simulator.answer(
        "mixed-bad", "error", status=400, error_code="context_length_exceeded", message="Too long."
    )
    words = ["odd", "filtered", "plain", "refused", "cut", "bad", "plain"]
    job = support.finished(
        support.submitted(*(chat(f"mixed-{word}", f"{n},\n{word}") for n, word in enumerate(words)))
    )
    simulator.clear()
    return job


EXPECTED = [
    ("succeeded", None),
    ("refused", "content_filter"),
    ("succeeded", None),
    ("refused", "refusal"),
    ("truncated", "max_tokens"),
    ("failed", "context_length_exceeded"),
    ("succeeded", None),
]


def test_every_input_has_its_outcome_in_input_order(support: Caller, mixed: Json) -> None:
    found = support.results(mixed)

    assert [(row["outcome"], row["reason"]) for row in found] == EXPECTED
    assert [row["custom_id"].split(",")[0] for row in found] == [str(n) for n in range(7)]
    assert found[0]["output"] == ODD
    assert found[5]["message"]
    assert mixed["status"] == "partial"


def test_counts_and_reasons_say_what_the_rows_say(mixed: Json) -> None:
    counts = mixed["counts"]

    assert {name: counts[name] for name in OUTCOMES if counts[name]} == {
        "succeeded": 3, "refused": 2, "truncated": 1, "failed": 1,
    }  # fmt: skip
    assert {(r["outcome"], r["reason"], r["count"]) for r in mixed["reasons"] if r["reason"]} == {
        ("refused", "content_filter", 1),
        ("refused", "refusal", 1),
        ("truncated", "max_tokens", 1),
        ("failed", "context_length_exceeded", 1),
    }


def test_the_report_reconciles(support: Caller, mixed: Json) -> None:
    report = support.report(mixed)

    assert report["job_id"] == mixed["id"]
    assert (report["submitted"], report["unique"], report["reused"], report["balanced"]) == (7, 6, 0, True)
    assert report["outcomes"] == {name: mixed["counts"][name] for name in OUTCOMES}
    assert report["rows"] == {"received": 6, "duplicate": 0, "alien": 0, "unreadable": 0, "missing": 0}
    assert (report["usage"], report["cost"], report["reasons"]) == (
        mixed["usage"],
        mixed["cost"],
        mixed["reasons"],
    )
    assert [chunk["n"] for chunk in report["chunks"]] == [0]


def test_the_jobs_usage_is_the_sum_of_its_rows(support: Caller, mixed: Json) -> None:
    found = support.results(mixed)

    for name, total in mixed["usage"].items():
        assert total == sum(row["usage"][name] for row in found if row["usage"]), name


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_results_can_be_asked_for_by_outcome(support: Caller, mixed: Json, outcome: str) -> None:
    expected = [row for row in support.results(mixed) if row["outcome"] == outcome]

    assert support.results(mixed, outcome=outcome) == expected


def test_jsonl_is_a_form_by_name(support: Caller, mixed: Json) -> None:
    named = support.get(f"/v1/jobs/{mixed['id']}/results", format="jsonl")

    assert "ndjson" in named.headers["content-type"] or "jsonl" in named.headers["content-type"]
    assert named.content == support.get(f"/v1/jobs/{mixed['id']}/results").content


def test_csv_holds_the_same_rows(support: Caller, mixed: Json) -> None:
    response = support.get(f"/v1/jobs/{mixed['id']}/results", format="csv")

    table = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"), newline="")))
    found = support.results(mixed)
    assert response.headers["content-type"].startswith("text/csv")
    assert [line["custom_id"] for line in table] == [row["custom_id"] for row in found]
    assert [line["outcome"] for line in table] == [row["outcome"] for row in found]
    assert table[0]["output"] == ODD
    assert [line["reason"] for line in table] == [row["reason"] or "" for row in found]


def test_parquet_holds_the_same_rows(support: Caller, mixed: Json) -> None:
    response = support.get(f"/v1/jobs/{mixed['id']}/results", format="parquet")

    table = read_parquet(io.BytesIO(response.content)).read_all()
    found = support.results(mixed)
    assert table["custom_id"].to_pylist() == [row["custom_id"] for row in found]
    assert table["outcome"].to_pylist() == [row["outcome"] for row in found]
    assert table["output"].to_pylist()[0] == ODD


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_table_of_nothing_is_still_a_table(support: Caller, mixed: Json, form: str) -> None:
    response = support.get(f"/v1/jobs/{mixed['id']}/results", format=form, outcome="expired")

    assert response.status_code == 200
    if form == "csv":
        assert response.text.startswith(("custom_id", "\ufeffcustom_id"))
    else:
        assert read_parquet(io.BytesIO(response.content)).read_all().num_rows == 0


@pytest.mark.parametrize("query", [{"format": "xml"}, {"outcome": "lost"}, {"partial": "perhaps"}])
def test_a_form_nobody_knows_is_refused(support: Caller, mixed: Json, query: dict[str, str]) -> None:
    response = support.http.get(f"/v1/jobs/{mixed['id']}/results", params=query)

    assert problem(response)["status"] in {400, 422}


def test_reading_changes_nothing(support: Caller, mixed: Json) -> None:
    for _ in range(3):
        support.results(mixed)
        support.report(mixed)

    assert support.job(mixed) == mixed


def test_what_is_done_can_be_had_before_the_rest(support: Caller, provider: Provider, word: str) -> None:
    provider.answer(f"{word} again", "missing", times=1)
    provider.batch(f"{word} again", "completed", times=1)
    provider.batch(f"{word} again", "stuck")
    asked = [chat(f"{word} {text}", text) for text in ("one", "again", "three")]
    job = support.until(support.submitted(*asked), lambda seen: len(seen["chunks"]) == 2)

    early = support.get(f"/v1/jobs/{job['id']}/results")
    part = support.results(job, partial="true")

    assert problem(early)["status"] == 409
    assert [row["custom_id"] for row in part] == ["one", "three"]
    assert (job["counts"]["succeeded"], job["counts"]["pending"]) == (2, 1)
    assert support.report(job)["balanced"] is False
    support.post(f"/v1/jobs/{job['id']}/cancel")
    assert_balanced(support.finished(job))

"""What was spent and found, and what can be named."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.integration.postern import Caller, Json, chat, problem

pytestmark = pytest.mark.stack

FIGURES = (
    "requests",
    "input_tokens",
    "cached_input_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


@pytest.fixture(scope="module")
def spent(support: Caller) -> list[Json]:
    """Two jobs of one project, one of another, each tagged with who ran it."""
    jobs = [
        support.submitted(chat(f"{project} {n}"), tags={"project": project, "owner": owner, "step": "draft"})
        for n, (project, owner) in enumerate([("usage-a", "ana"), ("usage-a", "bo"), ("usage-b", "ana")])
    ]
    return [support.finished(job) for job in jobs]


def rows_of(caller: Caller, by: str, **query: str) -> dict[tuple[str | None, ...], Json]:
    names = by.split(",")
    found = caller.get("/v1/usage", by=by, **query).json()["rows"]
    return {tuple(row[name] for name in names): row for row in found}


def test_usage_is_summed_by_project_and_model(support: Caller, spent: list[Json]) -> None:
    found = rows_of(support, "project,model", window="24h")

    row = found["usage-a", "gpt-5-mini"]
    assert row["requests"] == 2
    for name in FIGURES[1:]:
        assert row[name] == sum(job["usage"][name] for job in spent[:2])
    assert float(row["cost"]) == pytest.approx(sum(float(job["cost"]["amount"]) for job in spent[:2]))
    assert float(row["saved"]) > 0


@pytest.mark.parametrize(
    ("by", "key", "requests"),
    [
        ("project", ("usage-a",), 2),
        ("project,owner", ("usage-a", "ana"), 1),
        ("owner,project", ("bo", "usage-a"), 1),
        ("project,step", ("usage-b", "draft"), 1),
    ],
)
def test_usage_is_summed_by_any_tags(
    support: Caller, spent: list[Json], by: str, key: tuple[str, ...], requests: int
) -> None:
    assert rows_of(support, by)[key]["requests"] == requests


def test_the_total_is_the_sum_of_the_rows(support: Caller, spent: list[Json]) -> None:
    answer = support.get("/v1/usage", by="project,model,alias").json()

    for name in FIGURES:
        assert answer["total"][name] == sum(row[name] for row in answer["rows"])


def test_a_window_may_be_told_by_its_ends(support: Caller, spent: list[Json]) -> None:
    now = datetime.now(UTC)
    around = {"from": (now - timedelta(hours=1)).isoformat(), "to": (now + timedelta(hours=1)).isoformat()}
    before = {"from": "2020-01-01T00:00:00Z", "to": "2020-01-02T00:00:00Z"}

    assert rows_of(support, "project", **around)["usage-a",]["requests"] == 2
    assert support.get("/v1/usage", **before).json()["rows"] == []


@pytest.mark.parametrize("window", ["24h", "7d", "30d"])
def test_every_window_holds_the_present(support: Caller, spent: list[Json], window: str) -> None:
    assert rows_of(support, "project", window=window)["usage-a",]["requests"] == 2


def test_csv_holds_the_same_sums(support: Caller, spent: list[Json]) -> None:
    response = support.get("/v1/usage", by="project,owner", format="csv")

    table = list(csv.DictReader(io.StringIO(response.text)))
    [line] = [line for line in table if (line["project"], line["owner"]) == ("usage-a", "ana")]
    row = rows_of(support, "project,owner")["usage-a", "ana"]
    assert response.headers["content-type"].startswith("text/csv")
    assert {name: int(line[name]) for name in FIGURES} == {name: row[name] for name in FIGURES}
    assert line["cost"] == row["cost"]


def test_another_tenants_usage_is_not_in_it(retail: Caller, spent: list[Json]) -> None:
    assert ("usage-a",) not in rows_of(retail, "project")


def test_the_focus_form_is_not_built_yet(support: Caller) -> None:
    refusal = problem(support.get("/v1/usage", format="focus"))

    assert refusal["status"] == 422
    assert "not_available" in str(refusal)


@pytest.mark.parametrize(
    "query",
    [
        {"window": "1y"},
        {"window": "24h", "from": "2026-01-01T00:00:00Z"},
        {"from": "yesterday"},
        {"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"},
        {"from": "0001-01-01T00:00:00Z"},
        {"from": "9999-12-31T23:59:59+00:00", "to": "9999-12-31T23:59:59-23:59"},
        {"from": "0001-01-01T00:00:00+14:00", "to": "0001-01-02T00:00:00+14:00"},
        {"to": "2026-13-01"},
        {"by": "project,project"},
        {"by": ",".join(f"tag{n}" for n in range(40))},
        {"format": "xml"},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(support: Caller, query: dict[str, str]) -> None:
    assert problem(support.http.get("/v1/usage", params=query))["status"] == 400


@pytest.mark.parametrize("by", ["nothing", "ünï", "PartitionKey", "__class__", " ", "cost"])
def test_a_tag_nobody_uses_is_no_mistake(support: Caller, by: str) -> None:
    assert support.get("/v1/usage", by=by).status_code in {200, 400}


def test_findings_come_in_the_same_envelope(support: Caller, operators: Caller) -> None:
    for caller in (support, operators):
        answer = caller.get("/v1/findings").json()
        assert set(answer) >= {"data", "has_more", "next"}


def test_aliases_say_what_they_stand_for(support: Caller) -> None:
    answer = support.get("/v1/aliases").json()

    found = {alias["alias"]: alias for alias in answer["data"]}
    assert {"summarize", "dated", "embed"} <= set(found)
    assert found["summarize"]["hours"][0]["model"] == "gpt-5-mini"


def test_the_api_describes_itself(support: Caller) -> None:
    response = support.get("/v1/openapi.json")

    assert response.status_code == 200
    assert response.json()["openapi"].startswith("3.")
    assert "/v1/jobs" in response.json()["paths"]


def test_the_console_is_not_built_yet(support: Caller) -> None:
    assert problem(support.get("/console"))["status"] == 422

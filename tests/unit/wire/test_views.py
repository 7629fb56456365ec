"""What clients read is the contract's, key by key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.catalog import Alias, Catalog, Deployment, Endpoint
from shared.domain.chunks import Chunk, ChunkState, Remote, RowCounts, Settlement
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import AliasName, BatchId, DeploymentName, JobId, TenantId
from shared.domain.jobs import Job, JobStatus, Plan, Source, SourceKind, Totals
from shared.domain.outcomes import Outcome, Tally
from shared.domain.usage import Spend, Usage
from shared.wire.figures import plain, rfc3339
from shared.wire.problems import LineError
from shared.wire.usage_views import UsageSum, usage_report_csv, usage_report_json
from shared.wire.views import (
    CHUNK_STATUS,
    Waiting,
    alias_json,
    chunk_json,
    finding_json,
    job_json,
    page_json,
    report_json,
)

NOON = datetime(2026, 11, 30, 12, 0, 0, 999_999, tzinfo=UTC)
JOB = Job(
    id=JobId("job_1"),
    tenant=TenantId("support"),
    status=JobStatus.ACCEPTED,
    created_at=NOON,
    deadline_at=NOON + timedelta(hours=30),
    alias=AliasName("summarize"),
    endpoint=Endpoint.CHAT,
    deployment=DeploymentName("mini-batch"),
    provider="azure_openai",
    model="gpt-5-mini",
    run_id="job_1",
    source=Source(kind=SourceKind.REQUESTS, path="jobs/job_1/input.jsonl"),
    tags=MappingProxyType({"project": "tickets"}),
)
PLAN = Plan(
    submitted=100,
    unique=98,
    reused=1,
    chunks=1,
    rounds=(1,),
    tally=Tally.of([((Outcome.SUCCEEDED, None), 1)]),
)
CHUNK = Chunk(
    job_id=JOB.id,
    n=0,
    attempt=1,
    planned_by=1,
    deployment=JOB.deployment,
    provider="azure_openai",
    requests=97,
    bytes=1000,
    tokens=500,
    first=1,
)
SETTLED = replace(
    CHUNK,
    state=ChunkState.SETTLED,
    remote=Remote(batch=BatchId("batch_9"), completed=97, failed=0, expires_at=NOON),
    settlement=Settlement(
        tally=Tally.of(
            [
                ((Outcome.SUCCEEDED, None), 95),
                ((Outcome.INVALID, "schema"), 1),
                ((Outcome.CANCELLED, None), 1),
            ]
        ),
        rows=RowCounts(received=97, duplicate=2, alien=1, unreadable=0, missing=0),
        usage=Usage(uncached_input=60, cached_input=30, cache_write=10, output=20, reasoning=5),
        spend=Spend(amount=Decimal("0.0123000"), standard=Decimal("0.0246"), unpriced=3),
    ),
)


def view(job: Job = JOB, *chunks: Chunk, **more: object) -> dict[str, object]:
    return job_json(job, chunks, base_url="https://postern.example/", **more)  # type: ignore[arg-type]


def test_an_accepted_job_knows_nothing_and_says_so() -> None:
    assert view() == {
        "id": "job_1",
        "tenant": "support",
        "status": "accepted",
        "reason": None,
        "late": False,
        "alias": "summarize",
        "tags": {"project": "tickets"},
        "created_at": "2026-11-30T12:00:00Z",
        "finished_at": None,
        "deadline_at": "2026-12-01T18:00:00Z",
        "errors": [],
        "counts": dict.fromkeys(["submitted", "unique", "reused", "pending", *Outcome]),
        "reasons": [],
        "usage": {
            "input_tokens": 0,
            "cached_input_tokens": 0,
            "cache_write_tokens": 0,
            "output_tokens": 0,
            "reasoning_tokens": 0,
        },
        "cost": {"amount": "0", "currency": "USD", "unpriced_requests": 0, "saved": "0"},
        "chunks": [],
        "waiting": None,
        "results_kept_until": None,
        "links": {
            "self": "https://postern.example/v1/jobs/job_1",
            "results": "https://postern.example/v1/jobs/job_1/results",
            "report": "https://postern.example/v1/jobs/job_1/report",
            "cancel": "https://postern.example/v1/jobs/job_1/cancel",
        },
    }


def test_a_planned_job_counts_what_is_pending() -> None:
    job = replace(JOB, status=JobStatus.RUNNING, plan=PLAN)
    counts = view(job, SETTLED)["counts"]
    assert counts == {
        "submitted": 100,
        "unique": 98,
        "reused": 1,
        "pending": 2,
        "succeeded": 96,
        "refused": 0,
        "truncated": 0,
        "invalid": 1,
        "failed": 0,
        "expired": 0,
        "cancelled": 1,
    }


@given(st.lists(st.tuples(st.sampled_from(Outcome), st.integers(0, 9)), max_size=12))
def test_outcomes_and_pending_always_make_up_what_was_submitted(verdicts: list[tuple[Outcome, int]]) -> None:
    chunks = [
        replace(SETTLED, n=n, settlement=Settlement(tally=Tally.of([((outcome, None), count)])))
        for n, (outcome, count) in enumerate(verdicts)
    ]
    counts = view(replace(JOB, plan=replace(PLAN, submitted=200)), *chunks)["counts"]
    assert isinstance(counts, dict)
    assert sum(counts[outcome.value] for outcome in Outcome) + counts["pending"] == counts["submitted"] == 200


def test_a_chunk_shows_what_the_provider_told() -> None:
    assert chunk_json(SETTLED) == {
        "n": 0,
        "attempt": 1,
        "provider": "azure_openai",
        "deployment": "mini-batch",
        "status": "settled",
        "batch_id": "batch_9",
        "requests": 97,
        "progress": {"completed": 97, "failed": 0},
        "expires_at": "2026-11-30T12:00:00Z",
    }
    fresh = chunk_json(CHUNK)
    assert (fresh["batch_id"], fresh["expires_at"]) == (None, None)
    assert fresh["progress"] == {"completed": None, "failed": None}


def test_every_state_of_a_chunk_has_a_word() -> None:
    assert set(CHUNK_STATUS) == set(ChunkState)


def test_usage_is_inclusive_and_money_is_plain() -> None:
    job = view(replace(JOB, plan=PLAN), SETTLED)
    assert job["usage"] == {
        "input_tokens": 100,
        "cached_input_tokens": 30,
        "cache_write_tokens": 10,
        "output_tokens": 20,
        "reasoning_tokens": 5,
    }
    assert job["cost"] == {"amount": "0.0123", "currency": "USD", "unpriced_requests": 3, "saved": "0.0123"}
    assert job["reasons"] == [{"outcome": "invalid", "reason": "schema", "count": 1}]


def test_tokens_that_no_row_accounts_for_are_shown_apart() -> None:
    settlement = replace(SETTLED.settlement or Settlement(), unattributed=Usage(uncached_input=7, output=1))
    usage = view(replace(JOB, plan=PLAN), replace(SETTLED, settlement=settlement))["usage"]
    assert isinstance(usage, dict)
    assert (usage["input_tokens"], usage["unattributed"]["input_tokens"]) == (100, 7)


def test_a_job_without_any_price_costs_nobody_knows_what() -> None:
    job = replace(JOB, totals=Totals(spend=Spend(unpriced=4)))
    assert view(job)["cost"] == {"amount": None, "currency": "USD", "unpriced_requests": 4, "saved": None}


def test_a_finished_job_shows_its_frozen_totals() -> None:
    done = replace(
        JOB, status=JobStatus.COMPLETED, plan=PLAN, totals=Totals(tally=PLAN.tally), finished_at=NOON
    )
    assert view(done, SETTLED)["usage"] != view(replace(done, totals=None), SETTLED)["usage"]


def test_only_a_waiting_job_says_why_it_waits() -> None:
    waiting = Waiting(reason="capacity", position=2, eta=NOON)
    held = view(replace(JOB, status=JobStatus.WAITING), waiting=waiting)
    assert held["waiting"] == {"reason": "capacity", "position": 2, "eta": "2026-11-30T12:00:00Z"}
    assert view(replace(JOB, status=JobStatus.RUNNING), waiting=waiting)["waiting"] is None


def test_a_job_with_bad_input_lists_its_errors() -> None:
    errors = [LineError(line=n, field="body.model", message="no") for n in range(1, 200)]
    listed = view(replace(JOB, status=JobStatus.FAILED, reason="invalid_input"), errors=errors)["errors"]
    assert isinstance(listed, list)
    assert (len(listed), listed[0]) == (100, {"line": 1, "field": "body.model", "message": "no"})


def test_the_report_reconciles() -> None:
    job = replace(JOB, status=JobStatus.RUNNING, plan=PLAN)
    report = report_json(job, [SETTLED])
    assert report["balanced"] is False
    assert report["rows"] == {"received": 97, "duplicate": 2, "alien": 1, "unreadable": 0, "missing": 0}
    assert (report["submitted"], report["unique"], report["reused"]) == (100, 98, 1)
    assert " ".join(report) == (
        "job_id submitted unique reused outcomes reasons chunks rows usage cost balanced"
    )
    whole = replace(PLAN, submitted=98)
    assert report_json(replace(job, plan=whole), [SETTLED])["balanced"] is True


def test_a_report_before_planning_claims_no_balance() -> None:
    report = report_json(JOB, [])
    assert (report["submitted"], report["balanced"]) == (None, False)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0"),
        ("0.00", "0"),
        ("-0", "0"),
        ("1E-7", "0.0000001"),
        ("1.20E+3", "1200"),
        ("0.0123000", "0.0123"),
        ("100", "100"),
        ("-0.50", "-0.5"),
        ("12345678901234567890.123456789", "12345678901234567890.123456789"),
    ],
)
def test_money_is_a_plain_decimal(amount: str, text: str) -> None:
    assert plain(Decimal(amount)) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_money_loses_no_digit(amount: Decimal) -> None:
    assert Decimal(plain(amount)) == amount
    assert "E" not in plain(amount)


def test_times_are_utc() -> None:
    assert rfc3339(datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))) == "2025-12-31T23:00:00Z"
    assert rfc3339(None) is None


def test_a_page_says_whether_there_is_more() -> None:
    assert page_json([1], next_cursor="x") == {"data": [1], "has_more": True, "next": "x"}
    assert page_json([], next_cursor=None) == {"data": [], "has_more": False, "next": None}


def test_a_finding_names_its_subject() -> None:
    finding = Finding(
        kind=FindingKind.LATE_JOB,
        subject="job_1",
        tenant=TenantId("support"),
        message="is late",
        found_at=NOON,
    )
    assert finding_json(finding) == {
        "kind": "late_job",
        "subject": "job_1",
        "tenant": "support",
        "message": "is late",
        "found_at": "2026-11-30T12:00:00Z",
        "detail": {},
    }


def test_an_alias_shows_what_it_stands_for() -> None:
    mini = Deployment(name=DeploymentName("mini"), provider="openai", model="gpt", deployment="gpt")
    alias = Alias(name=AliasName("small"), hours=(mini.name,), max_output_tokens=400)
    catalog = Catalog(tenants={}, deployments={mini.name: mini}, aliases={alias.name: alias})
    assert alias_json(alias, catalog) == {
        "alias": "small",
        "minutes": [],
        "hours": [{"deployment": "mini", "provider": "openai", "model": "gpt"}],
        "max_output_tokens": 400,
    }


SUMS = [
    UsageSum(
        group={"project": "=cmd()", "model": "gpt"},
        requests=2,
        usage=Usage(uncached_input=5, output=1),
        spend=Spend(amount=Decimal("0.10"), standard=Decimal("0.20")),
    ),
    UsageSum(group={"project": None, "model": "gpt"}, requests=1, spend=Spend(unpriced=1)),
]


def test_usage_is_summed_up() -> None:
    report = usage_report_json(SUMS)
    assert report["rows"] == [
        {"project": "=cmd()", "model": "gpt", "requests": 2, "input_tokens": 5, "cached_input_tokens": 0}
        | {
            "cache_write_tokens": 0,
            "output_tokens": 1,
            "reasoning_tokens": 0,
            "cost": "0.1",
            "currency": "USD",
        }
        | {"saved": "0.1", "unpriced_requests": 0},
        {"project": None, "model": "gpt", "requests": 1, "input_tokens": 0, "cached_input_tokens": 0}
        | {
            "cache_write_tokens": 0,
            "output_tokens": 0,
            "reasoning_tokens": 0,
            "cost": None,
            "currency": "USD",
        }
        | {"saved": None, "unpriced_requests": 1},
    ]
    total = report["total"]
    assert isinstance(total, dict)
    assert (total["requests"], total["cost"], total["unpriced_requests"]) == (3, "0.1", 1)


def test_usage_as_csv_has_a_header_and_no_cell_that_runs() -> None:
    first, second, third = usage_report_csv(["project", "model"], SUMS).decode().splitlines()
    assert first.startswith("project,model,requests,input_tokens")
    assert second.startswith("'=cmd(),gpt,2,5")
    assert third.startswith(",gpt,1,0")
    assert usage_report_csv(["project"], []).decode().count("\n") == 1

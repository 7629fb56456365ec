"""What the provider may do to single requests, and the outcome that each has.

Every kind of trouble is a job of its own. All of them are submitted before the first is looked at.
"""

from dataclasses import dataclass, field

import pytest

from tests.integration.postern import Caller, Json, chat
from tests.integration.provider import Provider

pytestmark = pytest.mark.stack

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
GOOD = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is played for one of four requests, and what must come of that one. `times` None: for ever."""

    then: Json
    outcome: str
    reason: str | None = None
    attempts: int = 1
    times: int | None = None
    rows: Json = field(default_factory=dict)


def error(status: int, code: str | None = None) -> Json:
    return {"outcome": "error", "status": status, **({} if code is None else {"error_code": code})}


def malformed(shape: str) -> Json:
    return {"outcome": "malformed", "shape": shape}


TROUBLES = {
    "filtered prompt": Trouble(
        then={"outcome": "content_filter"}, outcome="refused", reason="content_filter"
    ),
    "filtered answer": Trouble(
        then={"outcome": "content_filter", "filtered": "completion"},
        outcome="refused",
        reason="content_filter",
    ),
    "refusal": Trouble(then={"outcome": "refusal"}, outcome="refused", reason="refusal"),
    "cut answer": Trouble(then={"outcome": "truncated"}, outcome="truncated", reason="max_tokens"),
    "only reasoning": Trouble(
        then={"outcome": "truncated", "reasoning": True}, outcome="truncated", reason="reasoning"
    ),
    "permanent error": Trouble(
        then=error(400, "context_length_exceeded"), outcome="failed", reason="context_length_exceeded"
    ),
    "unknown permanent error": Trouble(then=error(400, "odd_code"), outcome="failed", reason="odd_code"),
    "not found": Trouble(then=error(404, "model_not_found"), outcome="failed", reason="model_not_found"),
    "rate limited once": Trouble(then=error(429), times=1, outcome="succeeded", attempts=2),
    "rate limited for ever": Trouble(then=error(429), outcome="failed", reason="rate_limited", attempts=3),
    "server error once": Trouble(then=error(500), times=1, outcome="succeeded", attempts=2),
    "server error twice": Trouble(then=error(503), times=2, outcome="succeeded", attempts=3),
    "server error for ever": Trouble(then=error(500), outcome="failed", reason="provider_error", attempts=3),
    "timeout for ever": Trouble(then=error(408), outcome="failed", reason="timeout", attempts=3),
    "missing once": Trouble(
        then={"outcome": "missing"}, times=1, outcome="succeeded", attempts=2, rows={"missing": 1}
    ),
    "missing for ever": Trouble(
        then={"outcome": "missing"}, outcome="failed", reason="missing", attempts=3, rows={"missing": 3}
    ),
    "twice": Trouble(then={"outcome": "duplicate"}, outcome="succeeded", rows={"duplicate": 1}),
    "cut row": Trouble(then=malformed("cut"), times=1, outcome="succeeded", attempts=2),
    "cut row for ever": Trouble(
        then=malformed("cut"), outcome="failed", reason="unreadable", attempts=3, rows={"unreadable": 3}
    ),
    "cut last line": Trouble(then=malformed("last_line"), times=1, outcome="succeeded", attempts=2),
    "row not in UTF-8": Trouble(then=malformed("not_utf8"), times=1, outcome="succeeded", attempts=2),
    "row no object": Trouble(then=malformed("not_object"), times=1, outcome="succeeded", attempts=2),
    "empty answer": Trouble(then=malformed("empty_body"), times=1, outcome="succeeded", attempts=2),
    "empty answer for ever": Trouble(
        then=malformed("empty_body"), outcome="failed", reason="unreadable", attempts=3
    ),
    "status zero": Trouble(then=malformed("status_0"), times=1, outcome="succeeded", attempts=2),
    "row without id": Trouble(then=malformed("no_custom_id"), times=1, outcome="succeeded", attempts=2),
    "expired once": Trouble(then={"outcome": "expired"}, times=1, outcome="succeeded", attempts=2),
    "expired for ever": Trouble(then={"outcome": "expired"}, outcome="expired", attempts=3),
}


@pytest.fixture(scope="module")
def played(support: Caller, simulator: Provider) -> dict[str, Json]:
    """A job for every trouble, all on their way."""
    simulator.clear()
    jobs = {}
    for place, (name, trouble) in enumerate(TROUBLES.items()):
        word = f"trouble{place:02d}x"
        simulator.rule({"contains": word}, trouble.then, trouble.times)
        # In the middle: a damaged row must not take its neighbours along.
        texts = [f"Quiet words of {word[:-1]} {n}." for n in range(GOOD)]
        asked = [chat(text, f"good-{n}") for n, text in enumerate(texts)]
        jobs[name] = support.submitted(*asked[:2], chat(f"{word} speaks.", "bad"), *asked[2:])
    return jobs


@pytest.fixture(params=TROUBLES.keys())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_one_troubled_request_has_its_outcome_and_its_neighbours_theirs(
    support: Caller, played: dict[str, Json], name: str
) -> None:
    trouble = TROUBLES[name]

    job = support.finished(played[name])

    found = {row["custom_id"]: row for row in support.results(job)}
    bad, good = found.pop("bad"), found
    assert (bad["outcome"], bad["reason"], bad["attempts"]) == (
        trouble.outcome,
        trouble.reason,
        trouble.attempts,
    )
    assert {row["outcome"] for row in good.values()} == {"succeeded"}
    assert {row["attempts"] for row in good.values()} == {1}
    assert job["status"] == ("completed" if trouble.outcome == "succeeded" else "partial")


def test_the_report_of_a_troubled_job_reconciles(support: Caller, played: dict[str, Json], name: str) -> None:
    trouble = TROUBLES[name]
    job = support.finished(played[name])

    report = support.report(job)

    assert report["balanced"] is True
    assert (report["submitted"], report["outcomes"][trouble.outcome]) == (
        GOOD + 1,
        GOOD + 1 if trouble.outcome == "succeeded" else 1,
    )
    assert {name: report["rows"][name] for name in trouble.rows} == trouble.rows
    # Only what is not final is sent again, alone.
    assert [chunk["requests"] for chunk in report["chunks"]] == [GOOD + 1, *[1] * (trouble.attempts - 1)]
    assert [chunk["attempt"] for chunk in report["chunks"]] == list(range(1, trouble.attempts + 1))


def test_a_refused_request_is_paid_for_and_never_sent_again(
    support: Caller, simulator: Provider, played: dict[str, Json]
) -> None:
    job = support.finished(played["filtered answer"])

    [chunk] = job["chunks"]
    assert len(simulator.journal(operation="create", batch_id=chunk["batch_id"])) == 1
    [bad] = support.results(job, outcome="refused")
    assert bad["usage"]["output_tokens"] > 0


def test_tokens_of_rows_that_cannot_be_read_are_not_invented(
    support: Caller, played: dict[str, Json]
) -> None:
    job = support.finished(played["cut row for ever"])

    rows = support.results(job)
    assert job["usage"]["output_tokens"] == sum((row["usage"] or {}).get("output_tokens", 0) for row in rows)


def test_a_job_of_nothing_but_trouble_failed(support: Caller, provider: Provider, word: str) -> None:
    provider.answer(word, "error", status=400, error_code="context_length_exceeded")

    job = support.finished(support.submitted(chat(f"{word} a"), chat(f"{word} b")))

    assert (job["status"], job["counts"]["failed"]) == ("failed", 2)
    assert provider.event(f"jobs/{job['id']}", "postern.job.failed")


def test_messages_hold_no_content(support: Caller, provider: Provider, word: str) -> None:
    provider.answer(
        word, "error", status=400, error_code="invalid_prompt", message=f"bad prompt: {word} secret"
    )

    job = support.finished(support.submitted(chat(f"{word} secret", "x")))

    published = provider.event(f"jobs/{job['id']}", "postern.job.failed")
    assert word not in str(published)
    assert word not in str(job)

"""What a collected chunk makes of its requests: one outcome each, and every token accounted for."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd, RowCounts
from shared.domain.errors import TryAgainLater
from shared.domain.findings import FindingKind
from shared.domain.jobs import Job, add_up
from shared.domain.prices import UNPRICED
from shared.domain.usage import Spend, Usage
from shared.services.policy import Policy
from tests.support.world import World, a_body

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}


def texts(count: int, **marked: int) -> list[str]:
    """`count` different texts, of which the first ones are marked: `texts(10, missing=2, error=1)`."""
    marks = [name for name, times in marked.items() for _ in range(times)]
    return [f"text {i} [{mark}]" for i, mark in enumerate(marks + ["plain"] * (count - len(marks)))]


def with_fates(world: World, **fates: Fate) -> None:
    world.provider.habits.fates = {f"[{name}]": fate for name, fate in fates.items()}


async def test_an_account_without_credit_is_an_operators_affair_and_the_requests_are_sent_again() -> None:
    world = World()
    with_fates(world, broke=Fate.UNPAID)
    world.provider.habits.runs_for = timedelta(minutes=10)
    job = await world.submit(a_body(texts(3, broke=2)))
    await world.pass_time(minutes=15)

    world.provider.habits.fates = {}
    await world.run()

    assert await world.outcomes(job) == {"succeeded": 3}
    assert await world.findings() == []
    (finding,) = await world.findings(None)
    assert finding.kind is FindingKind.NOT_ADMITTED
    assert "402 billing_error" in finding.message


async def the_first_batch_of(world: World, body: dict[str, Any]) -> Job:
    """Submit the job, and let time pass until its first batch is settled and the next one runs."""
    world.provider.habits.runs_for = timedelta(minutes=10)
    job = await world.submit(body)
    await world.pass_time(minutes=15)
    assert (await world.chunk(job)).is_done
    return job


async def run(world: World, body: dict[str, Any]) -> Job:
    job = await world.submit(body)
    await world.run()
    return (await world.see(job)).job


async def test_five_thousand_with_every_kind_of_trouble_end_with_five_thousand_outcomes() -> None:
    world = World()
    with_fates(
        world,
        missing=Fate.MISSING,
        filtered=Fate.CONTENT_FILTER,
        truncated=Fate.TRUNCATED,
        twice=Fate.DUPLICATE,
    )
    world.provider.habits.shuffle = True
    job = await the_first_batch_of(
        world, a_body(texts(5000, missing=20, filtered=20, truncated=20, twice=10))
    )
    world.provider.habits.fates.pop("[missing]")

    await world.run()

    assert await world.outcomes(job) == {
        "succeeded": 4960,
        "refused/content_filter": 20,
        "truncated/max_tokens": 20,
    }
    assert [r["custom_id"] for r in await world.results(job)] == [f"r-{i}" for i in range(5000)]
    assert [c.requests for c in (await world.see(job)).chunks] == [5000, 20]
    await assert_every_token_is_accounted_for(world, job)


async def test_what_never_comes_back_is_asked_for_three_times_and_then_missing() -> None:
    world = World()
    with_fates(world, missing=Fate.MISSING)

    job = await run(world, a_body(texts(100, missing=3)))

    assert await world.outcomes(job) == {"succeeded": 97, "failed/missing": 3}
    assert [c.requests for c in (await world.see(job)).chunks] == [100, 3, 3]
    assert {r["attempts"] for r in await world.results(job) if r["outcome"] == "failed"} == {3}


async def test_an_expired_batch_keeps_and_bills_what_is_there_and_sends_the_rest_again() -> None:
    world = World()
    world.provider.courses.append(Course(end=BatchEnd.EXPIRED, done=3000))

    job = await run(world, a_body(texts(5000)))

    first, second = await world.ledger()
    assert (first.requests, first.outcomes) == (5000, {"succeeded": 3000})
    assert (second.requests, second.outcomes) == (2000, {"succeeded": 2000})
    assert await world.outcomes(job) == {"succeeded": 5000}
    assert Counter(r["attempts"] for r in await world.results(job)) == {1: 3000, 2: 2000}
    await assert_every_token_is_accounted_for(world, job)


async def test_what_expires_every_time_ends_expired() -> None:
    world = World()
    world.provider.courses.extend([Course(end=BatchEnd.EXPIRED, done=1)] * 3)

    job = await run(world, a_body(texts(10)))

    assert await world.outcomes(job) == {"succeeded": 3, "expired": 7}
    assert job.status == "partial"
    assert len(world.provider.created) == 3


async def assert_every_token_is_accounted_for(world: World, job: Job) -> None:
    """Provider's bill = ledger = job; result lines = job without what no line could be read for."""
    bill, rows, results = await world.bill(), await world.ledger(), await world.results(job)
    seen = await world.see(job)
    totals = add_up(seen.job.plan, seen.chunks)
    assert sum((row.usage + row.unattributed for row in rows), Usage()) == bill
    assert totals.usage + totals.unattributed == bill
    assert sum(row.spend.amount for row in rows) == totals.spend.amount
    told = [r["usage"] for r in results if r["usage"]]
    assert sum(u["input_tokens"] for u in told) == totals.usage.input
    assert sum(u["output_tokens"] for u in told) == totals.usage.output
    if totals.unattributed == Usage():
        paid = sum(Decimal(r["cost"]["amount"]) for r in results if r["cost"]["amount"])
        assert paid == totals.spend.amount


EVERY_FATE = {fate.value: fate for fate in Fate}
ENDS = {
    "success": "succeeded",
    "content_filter": "refused/content_filter",
    "filtered": "refused/content_filter",
    "refusal": "refused/refusal",
    "truncated": "truncated/max_tokens",
    "invalid_json": "succeeded",
    "rejected": "failed/invalid_request",
    "unpaid": "failed/provider_error",
    "error": "failed/provider_error",
    "rate_limited": "failed/rate_limited",
    "missing": "failed/missing",
    "duplicate": "succeeded",
    "malformed": "failed/unreadable",
    "mended": "succeeded",
}


@pytest.mark.parametrize("fate", list(Fate))
async def test_every_fate_leads_to_its_outcome_and_every_token_is_accounted_for(fate: Fate) -> None:
    world = World()
    with_fates(world, marked=fate)

    job = await run(world, a_body(texts(6, marked=2)))

    expected = Counter({"succeeded": 4})
    expected[ENDS[fate.value]] += 2
    assert await world.outcomes(job) == expected
    await assert_every_token_is_accounted_for(world, job)


async def test_all_fates_at_once_shuffled_among_strangers() -> None:
    world = World()
    with_fates(world, **EVERY_FATE)
    world.provider.habits.shuffle, world.provider.habits.aliens = True, 3

    job = await run(world, a_body(texts(32, **dict.fromkeys(EVERY_FATE, 2))))

    expected = Counter({"succeeded": 4})
    for fate in Fate:
        expected[ENDS[fate.value]] += 2
    assert await world.outcomes(job) == expected
    assert sum(expected.values()) == 32
    await assert_every_token_is_accounted_for(world, job)


async def test_only_what_may_change_is_sent_again() -> None:
    world = World()
    with_fates(world, **EVERY_FATE)
    world.provider.habits.shuffle = True

    job = await run(world, a_body(texts(28, **dict.fromkeys(EVERY_FATE, 2))))

    transient = [
        f
        for f in Fate
        if ENDS[f.value]
        in ("failed/provider_error", "failed/rate_limited", "failed/missing", "failed/unreadable")
    ]
    assert [c.requests for c in (await world.see(job)).chunks] == [28, 2 * len(transient), 2 * len(transient)]


# Rows that are counted and change nothing


async def test_rows_are_counted_by_what_was_wrong_with_them() -> None:
    world = World()
    with_fates(world, twice=Fate.DUPLICATE, broken=Fate.MALFORMED, missing=Fate.MISSING)
    world.provider.habits.aliens = 4
    job = await the_first_batch_of(world, a_body(texts(20, twice=3, broken=2, missing=1)))
    world.provider.habits.fates.clear()
    world.provider.habits.aliens = 0

    await world.run()

    chunk = await world.chunk(job)
    assert chunk.settlement is not None
    # 19 answers come back, 3 of them twice and 2 broken, and 4 that belong to nobody.
    assert chunk.settlement.rows == RowCounts(received=26, duplicate=3, alien=4, unreadable=2, missing=1)
    assert chunk.settlement.again == 3
    assert await world.outcomes(job) == {"succeeded": 20}


@pytest.mark.parametrize("attempts", [1, 3], ids=["last attempt", "attempts left"])
async def test_a_readable_row_after_a_garbled_one_counts(attempts: int) -> None:
    world = World(policy=Policy(poll=timedelta(seconds=60), max_attempts=attempts))
    with_fates(world, marked=Fate.MENDED)

    job = await run(world, a_body(texts(5, marked=2)))

    assert await world.outcomes(job) == {"succeeded": 5}
    chunk = await world.chunk(job)
    assert chunk.settlement is not None
    assert chunk.settlement.tally.total == 5
    assert all(chunk.settlement.tally.counts.values())
    assert chunk.settlement.rows == RowCounts(received=7, unreadable=2)
    assert len(world.provider.created) == 1
    await assert_every_token_is_accounted_for(world, job)


async def test_a_readable_row_after_a_garbled_one_counts_while_cancelling_too() -> None:
    world = World()
    with_fates(world, marked=Fate.MENDED)
    world.provider.fail("download", TryAgainLater("503"))
    job = await world.submit(a_body(texts(3, marked=1)))
    await world.engine.settle(world.app)
    await world.cancel(job)

    await world.run()

    assert await world.outcomes(job) == {"succeeded": 3}


async def test_tokens_of_a_row_nobody_can_read_are_counted_as_unattributed() -> None:
    world = World()
    with_fates(world, broken=Fate.MALFORMED)

    job = await run(world, a_body(texts(4, broken=1)))

    totals = job.totals
    assert totals is not None
    assert totals.unattributed.output > 0
    assert totals.spend.amount > 0
    assert (await world.results(job))[0]["usage"] is None
    await assert_every_token_is_accounted_for(world, job)


# Batches that failed as a whole


async def test_a_batch_refused_as_a_whole_with_a_code_is_final() -> None:
    world = World()
    world.provider.courses.append(Course(end=BatchEnd.FAILED, code="invalid_json_line"))

    job = await run(world, a_body(texts(3)))

    assert await world.outcomes(job) == {"failed/invalid_json_line": 3}
    assert job.status == "failed"
    assert (await world.ledger())[0].spend.amount == 0
    assert len(world.provider.created) == 1


@pytest.mark.parametrize("code", [None, "internal_error", "server_error"])
async def test_a_batch_that_failed_without_having_looked_at_the_input_is_sent_again(code: str | None) -> None:
    world = World()
    world.provider.courses.append(Course(end=BatchEnd.FAILED, code=code))

    job = await run(world, a_body(texts(3)))

    assert await world.outcomes(job) == {"succeeded": 3}
    assert len(world.provider.created) == 2


async def test_a_batch_that_fails_every_time_ends_with_a_transient_reason() -> None:
    world = World()
    world.provider.courses.extend([Course(end=BatchEnd.FAILED)] * 3)

    job = await run(world, a_body(texts(3)))

    assert await world.outcomes(job) == {"failed/provider_error": 3}


async def test_a_completed_batch_of_nothing_but_errors_fails_with_their_reasons() -> None:
    world = World()
    with_fates(world, bad=Fate.REJECTED, filtered=Fate.CONTENT_FILTER)

    job = await run(world, a_body(texts(3, bad=2, filtered=1)))

    assert job.status == "failed"
    assert job.totals is not None
    assert [(r, n) for _, r, n in job.totals.tally.reasons()] == [
        ("invalid_request", 2),
        ("content_filter", 1),
    ]
    assert job.totals.spend.amount == 0


# Schemas


async def test_an_object_that_does_not_fit_gets_one_repair_and_is_then_invalid() -> None:
    world = World()
    world.provider.habits.answer = lambda prompt: '{"b": 1}' if "wrong" in prompt else '{"a": 1}'

    job = await run(world, a_body(["right", "wrong"], output_schema=SCHEMA))

    results = await world.results(job)
    assert [r["outcome"] for r in results] == ["succeeded", "invalid"]
    assert results[0]["output"] == {"a": 1}
    assert (results[1]["reason"], results[1]["output"], results[1]["attempts"]) == ("schema", None, 2)
    assert [c.requests for c in (await world.see(job)).chunks] == [2, 1]
    await assert_every_token_is_accounted_for(world, job)


async def test_a_repaired_object_succeeds_and_both_tries_are_paid_for() -> None:
    world = World()
    world.provider.habits.answer = lambda prompt: "no object"
    job = await the_first_batch_of(world, a_body(["one"], output_schema=SCHEMA))
    first = await world.bill()
    world.provider.habits.answer = lambda prompt: '{"a": 1}'

    await world.run()

    result = (await world.results(job))[0]
    both = await world.bill()
    assert (result["outcome"], result["output"], result["attempts"]) == ("succeeded", {"a": 1}, 2)
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (both.input, both.output)
    assert both.output > first.output > 0
    await assert_every_token_is_accounted_for(world, job)


async def test_text_that_is_no_json_is_invalid_json() -> None:
    world = World()
    with_fates(world, half=Fate.INVALID_JSON)
    world.provider.habits.answer = lambda prompt: '{"a": 1}'

    job = await run(world, a_body(texts(2, half=1), output_schema=SCHEMA))

    assert await world.outcomes(job) == {"succeeded": 1, "invalid/invalid_json": 1}


# Repeats


async def test_a_repeat_gets_the_answer_for_nothing_whatever_the_answer_is() -> None:
    world = World()
    with_fates(world, filtered=Fate.CONTENT_FILTER)

    job = await run(world, a_body(["a", "b [filtered]", "a", "b [filtered]", "a"]))

    results = await world.results(job)
    assert [r["outcome"] for r in results] == ["succeeded", "refused", "succeeded", "refused", "succeeded"]
    assert [r["reused"] for r in results] == [False, False, True, True, True]
    assert [r["cost"]["amount"] == "0" for r in results] == [False, False, True, True, True]
    assert (await world.ledger())[0].requests == 2
    assert (await world.ledger())[0].outcomes == {"succeeded": 3, "refused": 2}
    await assert_every_token_is_accounted_for(world, job)


async def test_repeats_of_a_request_that_is_sent_again_wait_for_its_answer() -> None:
    world = World()
    with_fates(world, missing=Fate.MISSING)
    job = await the_first_batch_of(world, a_body(["a", "b [missing]", "b [missing]", "c", "b [missing]"]))
    world.provider.habits.fates.clear()

    await world.run()

    assert await world.outcomes(job) == {"succeeded": 5}
    assert [c.requests for c in (await world.see(job)).chunks] == [3, 1]


async def test_without_dedupe_equal_requests_are_sent_each_for_itself() -> None:
    world = World()

    job = await run(world, a_body(["a", "a", "b"], dedupe=False))

    assert [r["reused"] for r in await world.results(job)] == [False] * 3
    assert (await world.ledger())[0].requests == 3
    assert job.plan is not None
    assert (job.plan.submitted, job.plan.unique) == (3, 3)


# Prices


async def test_without_a_price_requests_are_unpriced_and_one_finding_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    monkeypatch.setattr("tests.support.world.PRICES.card", lambda deployment, lane: UNPRICED)
    world.app = world.power_up()

    job = await run(world, a_body(["a", "b"]))

    assert job.totals is not None
    assert job.totals.spend == Spend(unpriced=2)
    assert [r["cost"]["amount"] for r in await world.results(job)] == [None, None]
    assert [f.kind.value for f in await world.findings(None)] == ["unpriced_model"]

"""Concurrency, breaker and shares as values."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.catalog import DeploymentLimits
from shared.domain.ids import TenantId
from shared.domain.pace import Breaker, Concurrency, places, share_of, share_per_minute
from shared.domain.waits import Backoff

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def a_breaker(faults: int = 3) -> Breaker:
    return Breaker(most=faults, shut=Backoff(first=10 * SECOND, longest=30 * SECOND))


def test_a_process_gets_its_part_of_the_deployments_share() -> None:
    limits = DeploymentLimits(tokens_per_minute=300_000, share=0.5)

    assert share_per_minute(limits, instances=1) == 150_000
    assert share_per_minute(limits, instances=3) == 50_000
    assert share_per_minute(DeploymentLimits(), instances=3) is None


@pytest.mark.parametrize(
    ("per_minute", "expected"), [(1, 1), (20_000, 1), (150_000, 8), (10**9, 16), (None, 8)]
)
def test_tokens_a_minute_decide_how_many_calls_may_be_under_way(
    per_minute: int | None, expected: int
) -> None:
    assert places(per_minute) == expected


def test_a_refusal_takes_three_tenths_and_a_second_one_at_once_takes_nothing() -> None:
    start = Concurrency(ceiling=10, limit=10)

    cut = start.after_refusal(NOW)

    assert cut.limit == 7
    assert cut.after_refusal(NOW + SECOND / 5) == cut
    assert cut.after_refusal(NOW + SECOND).limit == pytest.approx(4.9)


def test_a_window_of_answers_adds_one_call() -> None:
    concurrency = Concurrency(ceiling=10, limit=4)

    for _ in range(4):
        concurrency = concurrency.after_answer(in_flight=4)

    assert concurrency.allowed == 4
    assert concurrency.after_answer(in_flight=4).allowed == 5


def test_a_limit_that_is_not_used_does_not_grow() -> None:
    concurrency = Concurrency(ceiling=10, limit=4)

    assert concurrency.after_answer(in_flight=3) == concurrency


@given(ceiling=st.integers(1, 64), events=st.lists(st.booleans(), max_size=300))
def test_the_limit_stays_between_one_and_the_ceiling(ceiling: int, events: list[bool]) -> None:
    concurrency, now = Concurrency.below(ceiling), NOW
    for answered in events:
        now += SECOND
        concurrency = (
            concurrency.after_answer(in_flight=concurrency.allowed)
            if answered
            else concurrency.after_refusal(now)
        )
        assert 1 <= concurrency.allowed <= ceiling


def test_a_breaker_opens_after_faults_in_a_row_only() -> None:
    breaker = a_breaker().after_fault(NOW, lasting=False).after_fault(NOW, lasting=False)

    assert not breaker.after_answer().after_fault(NOW, lasting=False).is_open(NOW)
    assert breaker.after_fault(NOW, lasting=False).is_open(NOW)


def test_one_fault_that_will_last_opens_it() -> None:
    assert a_breaker().after_fault(NOW, lasting=True).is_open(NOW)


def test_an_open_breaker_is_half_open_after_its_time_and_one_more_fault_shuts_it_longer() -> None:
    breaker = a_breaker(1).after_fault(NOW, lasting=False)
    assert (breaker.is_open(NOW + 9 * SECOND), breaker.is_half_open(NOW + 10 * SECOND)) == (True, True)

    again = breaker.after_fault(NOW + 10 * SECOND, lasting=False)

    assert again.is_open(NOW + 29 * SECOND)
    assert not again.is_open(NOW + 30 * SECOND)


def test_calls_that_were_under_way_when_it_opened_do_not_shut_it_longer() -> None:
    breaker = a_breaker(1).after_fault(NOW, lasting=False)

    assert breaker.after_fault(NOW + SECOND, lasting=False) == breaker


def test_an_answer_closes_it_as_if_nothing_had_been() -> None:
    breaker = a_breaker(1).after_fault(NOW, lasting=False)

    assert breaker.after_answer() == a_breaker(1)


@given(
    weights=st.dictionaries(st.text(min_size=1, max_size=3).map(TenantId), st.integers(1, 1000), min_size=1),
    size=st.integers(1, 80),
)
def test_shares_are_never_none_and_fit_unless_there_are_more_tenants_than_slots(
    weights: dict[TenantId, int], size: int
) -> None:
    shares = [share_of(tenant, weights, size) for tenant in weights]

    assert min(shares) >= 1
    assert sum(shares) <= size + len(weights) - 1

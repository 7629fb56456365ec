"""Tokens a minute."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import TenantId
from shared.services.pace.allowance import MINUTE, Allowance

NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TENANT = TenantId("support")


def an_allowance(per_minute: int | None = 6000) -> Allowance:
    return Allowance(per_minute, now=NOW)


def test_a_sixth_of_the_share_goes_at_once_and_the_rest_as_the_minute_passes() -> None:
    allowance = an_allowance(6000)

    allowance.take(TENANT, 1000, NOW)

    assert allowance.free_in(500, NOW) == 6 * SECOND
    assert allowance.free_in(500, NOW + 6 * SECOND) == timedelta(0)


def test_tokens_that_are_not_free_cannot_be_taken() -> None:
    allowance = an_allowance()
    allowance.take(TENANT, 1000, NOW)

    with pytest.raises(ValueError, match="not free"):
        allowance.take(TENANT, 1, NOW)


def test_what_was_not_used_is_given_back() -> None:
    allowance = an_allowance()
    grant = allowance.take(TENANT, 1000, NOW)

    allowance.settle(grant, 200, NOW)

    assert allowance.free_in(800, NOW) == timedelta(0)
    assert allowance.used_lately(TENANT, NOW) == 200


def test_what_a_tenant_used_is_forgotten_after_a_minute() -> None:
    allowance = an_allowance()
    grant = allowance.take(TENANT, 1000, NOW)

    assert allowance.used_lately(TENANT, NOW + 59 * SECOND) == 1000
    assert allowance.used_lately(TENANT, NOW + MINUTE) == 0
    allowance.settle(grant, 10, NOW + MINUTE)
    assert allowance.used_lately(TENANT, NOW + MINUTE) == 0


def test_a_call_larger_than_the_share_goes_alone() -> None:
    allowance = an_allowance(6000)
    allowance.settle(allowance.take(TENANT, 100, NOW), 100, NOW)

    wait = allowance.free_in(9000, NOW)
    assert wait == MINUTE

    allowance.take(TENANT, 9000, NOW + wait)
    assert allowance.free_in(1, NOW + wait) > MINUTE


def test_without_a_limit_everything_is_free_and_still_counted() -> None:
    allowance = an_allowance(None)

    allowance.take(TENANT, 10**9, NOW)

    assert allowance.free_in(10**9, NOW) == timedelta(0)
    assert allowance.used_lately(TENANT, NOW) == 10**9


@given(
    per_minute=st.integers(10, 100_000),
    calls=st.lists(
        st.tuples(st.integers(1, 40_000), st.floats(0, 90), st.floats(0, 1)), min_size=1, max_size=60
    ),
)
def test_no_minute_sees_more_than_the_share(per_minute: int, calls: list[tuple[int, float, float]]) -> None:
    """Each call: the tokens it sets aside, the seconds until the next one, the part it uses of them."""
    allowance, now, taken = an_allowance(per_minute), NOW, []
    for tokens, pause, part in calls:
        now += allowance.free_in(tokens, now)
        grant = allowance.take(TENANT, tokens, now)
        taken.append((now, tokens))
        if part < 0.5:
            allowance.settle(grant, int(tokens * part), now)
            taken[-1] = (now, int(tokens * part))
        now += pause * SECOND

    for start, tokens in taken:
        minute = [size for at, size in taken if start <= at < start + MINUTE]
        assert sum(minute) <= max(per_minute, tokens if len(minute) == 1 else 0)

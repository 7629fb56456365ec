"""Which outcomes are final, and how outcomes are counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.outcomes import MAX_REASONS, Outcome, Tally, Verdict, is_final

TRANSIENT = ["missing", "unreadable", "provider_error", "rate_limited", "timeout", "infrastructure"]
PERMANENT = [
    *("context_length_exceeded", "invalid_request", "encrypted", "no_text", "corrupt", "empty", "too_large"),
    *("unsupported_type", "unknown_tenant", "unknown_pipeline", "gone", "over_budget", "whatever_they_say"),
]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_but_failures_is_final_or_not_whatever_its_reason(outcome: Outcome) -> None:
    bought_again = {Outcome.EXPIRED, Outcome.CANCELLED}

    if outcome is not Outcome.FAILED:
        assert is_final(outcome, None) is is_final(outcome, "missing") is (outcome not in bought_again)


@pytest.mark.parametrize("reason", TRANSIENT)
def test_a_transient_failure_may_be_bought_again(reason: str) -> None:
    assert not is_final(Outcome.FAILED, reason)


@pytest.mark.parametrize("reason", PERMANENT)
def test_a_permanent_failure_is_never_bought_again_by_itself(reason: str) -> None:
    assert is_final(Outcome.FAILED, reason)


verdicts = st.lists(
    st.tuples(
        st.tuples(st.sampled_from(Outcome), st.none() | st.sampled_from(["a", "b", "c"])),
        st.integers(0, 1000),
    ),
    max_size=20,
)


@given(verdicts, verdicts)
def test_tallies_add_up_in_any_order(
    some: list[tuple[Verdict, int]], others: list[tuple[Verdict, int]]
) -> None:
    one, two = Tally.of(some), Tally.of(others)

    assert one + two == two + one == Tally.of([*some, *others])
    assert (one + two).total == one.total + two.total == sum(n for _, n in [*some, *others])
    assert sum((one + two).by_outcome().values()) == (one + two).total


def test_a_record_does_not_grow_with_the_codes_a_provider_invents() -> None:
    many = Tally.of(((Outcome.FAILED, f"code-{i}"), 1) for i in range(1000))
    more = many + Tally.of([((Outcome.FAILED, "code-999"), 1), ((Outcome.FAILED, "code-1"), 1)])

    assert len(more.counts) <= MAX_REASONS + 1
    assert more.total == 1002
    assert more.counts[Outcome.FAILED, "code-1"] == 2
    assert more.counts[Outcome.FAILED, "other"] == 951


def test_a_success_has_no_reason_however_many_reasons_there_are() -> None:
    many = Tally.of(((Outcome.FAILED, f"code-{i}"), 1) for i in range(MAX_REASONS))
    with_success = many + Tally.of([((Outcome.SUCCEEDED, None), 5), ((Outcome.EXPIRED, None), 2)])

    assert with_success.counts[Outcome.SUCCEEDED, None] == 5
    assert with_success.counts[Outcome.EXPIRED, None] == 2


def test_the_most_common_reason_comes_first_and_zeros_are_left_out() -> None:
    tally = Tally.of(
        [
            ((Outcome.SUCCEEDED, None), 90),
            ((Outcome.FAILED, "missing"), 2),
            ((Outcome.REFUSED, "content_filter"), 7),
            ((Outcome.FAILED, "timeout"), 0),
            ((Outcome.FAILED, "invalid_request"), 2),
        ]
    )

    assert tally.reasons() == [
        (Outcome.REFUSED, "content_filter", 7),
        (Outcome.FAILED, "invalid_request", 2),
        (Outcome.FAILED, "missing", 2),
    ]

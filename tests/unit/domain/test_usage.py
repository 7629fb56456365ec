"""Tokens in disjoint buckets, and what they cost. Figures of section F of the field failures."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.prices import UNPRICED, PriceCard, Rates
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage

counts = st.integers(-10, 10_000)
BILLED = Rates(
    input=Decimal("0.125"),
    cached_input=Decimal("0.0125"),
    cache_write=Decimal("0.15625"),
    output=Decimal("1.00"),
)
STANDARD = Rates(
    input=Decimal("0.25"),
    cached_input=Decimal("0.025"),
    cache_write=Decimal("0.3125"),
    output=Decimal("2.00"),
)
CARD = PriceCard(billed=BILLED, standard=STANDARD, source="test", as_of=None)


def test_cached_tokens_are_taken_out_of_the_input() -> None:
    usage = Usage.from_inclusive(input_=2006, cached=1920, output=300)

    assert (usage.uncached_input, usage.cached_input, usage.output) == (86, 1920, 300)
    assert usage.input == 2006


def test_reasoning_is_part_of_the_output_and_billed_once() -> None:
    usage = Usage.from_inclusive(input_=0, output=1000, reasoning=800)

    assert usage.output == 1000
    assert CARD.spend(usage).amount == Decimal("0.001")


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"input_": 5, "cached": 9}, Usage(cached_input=9)),
        ({"input_": -3, "cached": -1, "output": -2}, Usage()),
        ({"input_": 10, "output": 4, "reasoning": 9}, Usage(uncached_input=10, output=4, reasoning=4)),
    ],
    ids=["more cached than there was", "negative", "more reasoning than output"],
)
def test_inconsistent_reports_are_clamped(told: dict[str, int], usage: Usage) -> None:
    assert Usage.from_inclusive(**told) == usage


@given(counts, counts, counts, counts, counts)
def test_no_bucket_is_ever_negative_and_inclusive_counts_survive(
    input_: int, cached: int, written: int, output: int, reasoning: int
) -> None:
    usage = Usage.from_inclusive(
        input_=input_, cached=cached, cache_write=written, output=output, reasoning=reasoning
    )

    assert min(usage.uncached_input, usage.cached_input, usage.cache_write, usage.output) >= 0
    assert 0 <= usage.reasoning <= usage.output
    if input_ >= max(cached, 0) + max(written, 0):
        assert usage.input == input_
    again = Usage.from_inclusive(
        input_=usage.input,
        cached=usage.cached_input,
        cache_write=usage.cache_write,
        output=usage.output,
        reasoning=usage.reasoning,
    )
    assert again == usage


def test_usages_add_up_bucket_by_bucket() -> None:
    one = Usage(uncached_input=1, cached_input=2, cache_write=3, output=4, reasoning=1)
    two = Usage(uncached_input=10, cached_input=20, cache_write=30, output=40, reasoning=10)

    assert one + two == Usage(uncached_input=11, cached_input=22, cache_write=33, output=44, reasoning=11)
    assert one + NOTHING_USED == one


def test_a_request_costs_every_bucket_at_its_own_rate() -> None:
    usage = Usage(uncached_input=1_000_000, cached_input=1_000_000, cache_write=1_000_000, output=1_000_000)

    spend = CARD.spend(usage)

    assert spend == Spend(amount=Decimal("1.29375"), standard=Decimal("2.5875"))
    assert spend.saved == Decimal("1.29375")


def test_not_a_fraction_of_a_cent_is_lost_over_a_million_requests() -> None:
    one = CARD.spend(Usage(uncached_input=1))
    assert one.amount == Decimal("0.000000125")

    total = NOTHING_SPENT
    for _ in range(1000):
        total += one

    assert total.amount == Decimal("0.000125")
    assert total.unpriced == 0


@pytest.mark.parametrize(
    "card", [UNPRICED, PriceCard(billed=UNPRICED.billed, standard=STANDARD, source="s", as_of=None)]
)
def test_without_a_rate_a_request_is_unpriced_and_in_no_sum(card: PriceCard) -> None:
    assert card.spend(Usage(uncached_input=5, output=5)) == Spend(unpriced=1)


def test_a_bucket_without_a_rate_matters_only_when_it_is_used() -> None:
    rates = Rates(input=Decimal(1), cached_input=None, cache_write=None, output=Decimal(1))

    assert rates.price(Usage(uncached_input=1_000_000)) == Decimal(1)
    assert rates.price(Usage(uncached_input=1_000_000, cached_input=1)) is None
    assert UNPRICED.billed.price(NOTHING_USED) == 0


@pytest.mark.parametrize(
    ("tokens", "price"), [(200_000, "0.2"), (200_001, "0.400002"), (1_000_001, "8.000008")]
)
def test_a_request_longer_than_a_tier_pays_the_tiers_rate_for_all_of_it(tokens: int, price: str) -> None:
    flat = Rates(input=Decimal(1), cached_input=None, cache_write=None, output=None)
    dear = Rates(input=Decimal(2), cached_input=None, cache_write=None, output=None)
    dearest = Rates(input=Decimal(8), cached_input=None, cache_write=None, output=None)
    tiers = ((200_000, dear, dear), (1_000_000, dearest, dearest))
    card = PriceCard(billed=flat, standard=flat, source="s", as_of=None, tiers=tiers)

    assert card.spend(Usage(uncached_input=tokens)).amount == Decimal(price)

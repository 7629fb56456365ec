"""Rates by the size of a request, as a price list tells them. Pure arithmetic."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

from shared.domain.prices import PriceCard, Rates

# Rates by the number of input tokens a request must exceed; 0 is always there.
Ladder = Mapping[int, Rates]


def flat(rates: Rates) -> Ladder:
    return {0: rates}


def mapped(ladder: Ladder, change: Callable[[Rates], Rates]) -> Ladder:
    return {threshold: change(rates) for threshold, rates in ladder.items()}


def complete(rates: Rates) -> Rates:
    """A bucket without a rate of its own is billed as ordinary input: that is how price lists are read."""
    return replace(
        rates,
        cached_input=rates.input if rates.cached_input is None else rates.cached_input,
        cache_write=rates.input if rates.cache_write is None else rates.cache_write,
    )


def discounted(rates: Rates, factor: Decimal, *, cached_too: bool) -> Rates:
    """Cached input that is not discounted never costs more than ordinary input does."""
    input_ = _times(rates.input, factor)
    cached = _times(rates.cached_input, factor) if cached_too else rates.cached_input
    return Rates(
        input=input_,
        cached_input=cached if cached is None or input_ is None else min(cached, input_),
        cache_write=_times(rates.cache_write, factor),
        output=_times(rates.output, factor),
    )


def to_card(*, billed: Ladder, standard: Ladder, source: str, as_of: str | None) -> PriceCard:
    thresholds = sorted({*billed, *standard} - {0})
    return PriceCard(
        billed=billed[0],
        standard=standard[0],
        source=source,
        as_of=as_of,
        tiers=tuple((limit, _at(billed, limit), _at(standard, limit)) for limit in thresholds),
    )


def _at(ladder: Ladder, limit: int) -> Rates:
    return ladder[max(threshold for threshold in ladder if threshold <= limit)]


def _times(rate: Decimal | None, factor: Decimal) -> Decimal | None:
    return None if rate is None else rate * factor

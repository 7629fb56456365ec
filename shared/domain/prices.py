"""Rates and what they make of a usage. Decimal throughout; no rate is ever guessed."""

from dataclasses import dataclass
from decimal import Decimal

from shared.domain.usage import Spend, Usage

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """USD per million tokens, one rate a bucket. `None`: that bucket has no known price."""

    input: Decimal | None
    cached_input: Decimal | None
    cache_write: Decimal | None
    output: Decimal | None

    def price(self, usage: Usage) -> Decimal | None:
        """USD, exact. `None` as soon as a used bucket has no rate."""
        total = Decimal(0)
        for tokens, rate in (
            (usage.uncached_input, self.input),
            (usage.cached_input, self.cached_input),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ):
            if not tokens:
                continue
            if rate is None:
                return None
            total += tokens * rate
        return total / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceCard:
    """How one deployment is billed, with where the figures come from.

    `tiers` holds (input tokens a request must exceed, billed, standard) for models whose long requests cost
    more, ascending; the base rates apply below the first.
    """

    billed: Rates
    standard: Rates
    source: str
    as_of: str | None
    tiers: tuple[tuple[int, Rates, Rates], ...] = ()

    def spend(self, usage: Usage) -> Spend:
        """What one request cost. Both sums are needed: without either the request is unpriced."""
        billed, standard = self.billed, self.standard
        for threshold, tier_billed, tier_standard in self.tiers:
            if usage.input > threshold:
                billed, standard = tier_billed, tier_standard
        amount, reference = billed.price(usage), standard.price(usage)
        if amount is None or reference is None:
            return Spend(unpriced=1)
        return Spend(amount=amount, standard=reference)


UNPRICED = PriceCard(
    billed=Rates(input=None, cached_input=None, cache_write=None, output=None),
    standard=Rates(input=None, cached_input=None, cache_write=None, output=None),
    source="none",
    as_of=None,
)

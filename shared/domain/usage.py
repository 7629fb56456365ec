"""Tokens in disjoint buckets, and money. Unknown usage is `None`, never zeros."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Disjoint buckets of tokens: no token is in two of the first four.

    `reasoning` is the one exception: it is that part of `output` which was spent on thinking.
    """

    uncached_input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def input(self) -> int:
        """All input tokens, cached ones included (as OpenAI counts them)."""
        return self.uncached_input + self.cached_input + self.cache_write

    def __add__(self, other: Self) -> Self:
        return type(self)(
            uncached_input=self.uncached_input + other.uncached_input,
            cached_input=self.cached_input + other.cached_input,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )

    @classmethod
    def from_inclusive(
        cls, *, input_: int, cached: int = 0, cache_write: int = 0, output: int = 0, reasoning: int = 0
    ) -> Self:
        """From counts in which `input_` contains `cached` and `cache_write`.

        Inconsistent reports are clamped so that no bucket is negative and the input total never exceeds
        what was reported, unless the cached part alone does.
        """
        cached, cache_write = max(cached, 0), max(cache_write, 0)
        return cls(
            uncached_input=max(input_ - cached - cache_write, 0),
            cached_input=cached,
            cache_write=cache_write,
            output=max(output, 0),
            reasoning=min(max(reasoning, 0), max(output, 0)),
        )


NOTHING_USED = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What requests cost, in USD.

    `amount` is what the batch is billed, `standard` what the same tokens would have cost synchronously.
    Requests without a known price are counted in `unpriced` and are in neither sum.
    """

    amount: Decimal = Decimal(0)
    standard: Decimal = Decimal(0)
    unpriced: int = 0

    @property
    def saved(self) -> Decimal:
        return self.standard - self.amount

    def __add__(self, other: Self) -> Self:
        return type(self)(
            amount=self.amount + other.amount,
            standard=self.standard + other.standard,
            unpriced=self.unpriced + other.unpriced,
        )


NOTHING_SPENT = Spend()

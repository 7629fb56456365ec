"""Sums inside records: usage, spend, tallies, row counts."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from shared.domain.chunks import RowCounts
from shared.domain.outcomes import Outcome, Tally
from shared.domain.usage import Spend, Usage


def usage_to(usage: Usage) -> list[int]:
    return [usage.uncached_input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning]


def usage_from(numbers: list[int]) -> Usage:
    uncached, cached, written, output, reasoning = numbers
    return Usage(
        uncached_input=uncached, cached_input=cached, cache_write=written, output=output, reasoning=reasoning
    )


def spend_to(spend: Spend) -> dict[str, Any]:
    return {"amount": str(spend.amount), "standard": str(spend.standard), "unpriced": spend.unpriced}


def spend_from(record: Mapping[str, Any]) -> Spend:
    return Spend(
        amount=Decimal(record["amount"]), standard=Decimal(record["standard"]), unpriced=record["unpriced"]
    )


def tally_to(tally: Tally) -> list[list[Any]]:
    return [[outcome.value, reason, number] for (outcome, reason), number in tally.counts.items()]


def tally_from(rows: list[list[Any]]) -> Tally:
    return Tally.of(((Outcome(outcome), reason), number) for outcome, reason, number in rows)


def rows_to(rows: RowCounts) -> list[int]:
    return [rows.received, rows.duplicate, rows.alien, rows.unreadable, rows.missing]


def rows_from(numbers: list[int]) -> RowCounts:
    received, duplicate, alien, unreadable, missing = numbers
    return RowCounts(
        received=received, duplicate=duplicate, alien=alien, unreadable=unreadable, missing=missing
    )

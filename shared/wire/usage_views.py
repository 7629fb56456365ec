"""`GET /v1/usage`: sums by whatever they were asked for, as JSON and as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage
from shared.wire.figures import CURRENCY, amounts, usage_json
from shared.wire.formats.csv_text import safe_cell


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """What a group of requests used and cost. `group` has one value a dimension; None: it had no such tag."""

    group: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    requests: int = 0
    usage: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT

    def __add__(self, other: "UsageSum") -> "UsageSum":
        """The sum; the group is the left one's."""
        return UsageSum(
            group=self.group,
            requests=self.requests + other.requests,
            usage=self.usage + other.usage,
            spend=self.spend + other.spend,
        )


def usage_report_json(rows: Sequence[UsageSum]) -> dict[str, object]:
    """The rows in the order given, and their total."""
    return {"rows": [{**row.group, **_sum_json(row)} for row in rows], "total": _sum_json(total_of(rows))}


def usage_report_csv(by: Sequence[str], rows: Sequence[UsageSum]) -> bytes:
    """The same rows, without the total; a header always."""
    names = [*by, *_sum_json(UsageSum())]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows:
        values = {**row.group, **_sum_json(row)}
        writer.writerow([safe_cell(values.get(name)) for name in names])
    return text.getvalue().encode()


def total_of(rows: Sequence[UsageSum]) -> UsageSum:
    return sum(rows, start=UsageSum())


def _sum_json(row: UsageSum) -> dict[str, object]:
    cost, saved = amounts(row.spend)
    return {
        "requests": row.requests,
        **usage_json(row.usage),
        "cost": cost,
        "currency": CURRENCY,
        "saved": saved,
        "unpriced_requests": row.spend.unpriced,
    }

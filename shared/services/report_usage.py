"""Which team spent what: sums over the ledger, by any tag or field. Books nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.ids import TenantId
from shared.domain.ledger import LedgerRow
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage
from shared.stores.ledger import Ledger

# Names that mean a column of the ledger; any other name is a tag.
COLUMNS = ("tenant", "lane", "run_id", "alias", "deployment", "provider", "model", "day")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSum:
    """`group` holds a value for each name asked for; None where rows do not carry that tag."""

    group: Mapping[str, str | None]
    requests: int = 0
    usage: Usage = NOTHING_USED
    unattributed: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT

    def plus(self, row: LedgerRow) -> "UsageSum":
        return UsageSum(
            group=self.group,
            requests=self.requests + row.requests,
            usage=self.usage + row.usage,
            unattributed=self.unattributed + row.unattributed,
            spend=self.spend + row.spend,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportUsage:
    ledger: Ledger

    async def __call__(
        self, tenants: Sequence[TenantId], by: Sequence[str], start: datetime, end: datetime
    ) -> tuple[list[UsageSum], UsageSum]:
        """One sum a combination of values, the dearest first, and the sum of all."""
        sums: dict[tuple[str | None, ...], UsageSum] = {}
        total = UsageSum(group={})
        for tenant in tenants:
            async for row in self.ledger.between(tenant, start, end):
                values = tuple(value_of(row, name) for name in by)
                known = sums.get(values) or UsageSum(group=dict(zip(by, values, strict=True)))
                sums[values] = known.plus(row)
                total = total.plus(row)
        dearest = sorted(sums.values(), key=lambda s: (-s.spend.amount, -s.requests, str(s.group)))
        return dearest, total


def value_of(row: LedgerRow, name: str) -> str | None:
    match name:
        case "day":
            return f"{row.booked_at:%Y-%m-%d}"
        case "tenant" | "lane" | "run_id" | "alias" | "deployment" | "provider" | "model":
            return str(getattr(row, name))
        case _:
            return row.tags.get(name)

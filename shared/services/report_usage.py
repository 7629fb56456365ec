"""Which team spent what: sums over the ledger, by any tag or field. Books nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.ids import TenantId
from shared.domain.ledger import LedgerRow
from shared.stores.ledger import Ledger
from shared.wire.usage_views import UsageSum

# Names that mean a column of the ledger; any other name is a tag.
COLUMNS: Final = ("tenant", "lane", "run_id", "alias", "deployment", "provider", "model")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportUsage:
    ledger: Ledger

    async def __call__(
        self, tenants: Sequence[TenantId], by: Sequence[str], start: datetime, end: datetime
    ) -> list[UsageSum]:
        """One sum a combination of values, the dearest first."""
        sums: dict[tuple[str | None, ...], UsageSum] = {}
        for tenant in tenants:
            async for row in self.ledger.between(tenant, start, end):
                values = tuple(value_of(row, name) for name in by)
                sums[values] = _sum_of(row, by, values) + sums.get(values, UsageSum())
        return sorted(sums.values(), key=lambda s: (-s.spend.amount, -s.requests, str(dict(s.group))))


def value_of(row: LedgerRow, name: str) -> str | None:
    """None: the row does not carry that tag."""
    if name == "day":
        return f"{row.booked_at:%Y-%m-%d}"
    return str(getattr(row, name)) if name in COLUMNS else row.tags.get(name)


def _sum_of(row: LedgerRow, by: Sequence[str], values: Sequence[str | None]) -> UsageSum:
    return UsageSum(
        group=dict(zip(by, values, strict=True)), requests=row.requests, usage=row.usage, spend=row.spend
    )

"""The ledger: append-only, one row per settled chunk, never counted twice."""

import logging
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final

from shared.domain.ids import TenantId
from shared.domain.ledger import LedgerRow
from shared.ports.tables import Tables
from shared.wire.records import small

log = logging.getLogger(__name__)

LEDGER: Final = "ledger"


class Ledger:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def book(self, row: LedgerRow) -> None:
        """A repeat, with the same `booked_at`, writes the same row again."""
        partition = f"{row.tenant}|{row.booked_at:%Y%m%d}"
        key = f"{row.booked_at:%H%M%S}|{row.source}|{row.attempt}"
        await self._tables.put(LEDGER, partition, key, small.ledger_to_fields(row))
        # For the workbook of costs; a repeat has the same source and attempt. The ledger stays the truth.
        log.info("usage.booked", extra=_told(row))

    async def between(self, tenant: TenantId, start: datetime, end: datetime) -> AsyncIterator[LedgerRow]:
        """The rows with `start <= booked_at < end`, oldest first. One look-up a day of the window."""
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        while day < end:
            async for entity in self._tables.scan(LEDGER, f"{tenant}|{day:%Y%m%d}"):
                row = small.ledger_from_fields(entity.fields)
                if start <= row.booked_at < end:
                    yield row
            day += timedelta(days=1)


def _told(row: LedgerRow) -> dict[str, object]:
    """Names and figures only: tags are the tenant's own words."""
    return {
        "source": row.source,
        "attempt": row.attempt,
        "tenant": row.tenant,
        "lane": row.lane,
        "alias": row.alias,
        "deployment": row.deployment,
        "provider": row.provider,
        "model": row.model,
        "requests": row.requests,
        "input": row.usage.input + row.unattributed.input,
        "cached": row.usage.cached_input + row.unattributed.cached_input,
        "output": row.usage.output + row.unattributed.output,
        "usd": row.spend.amount,
        "standard_usd": row.spend.standard,
        "unpriced": row.spend.unpriced,
    }

"""The ledger: append-only, one row per settled chunk, never counted twice."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final

from shared.domain.ids import TenantId
from shared.domain.ledger import LedgerRow
from shared.ports.tables import Tables
from shared.wire.records import small

LEDGER: Final = "ledger"


class Ledger:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def book(self, row: LedgerRow) -> None:
        """A repeat, with the same `booked_at`, writes the same row again."""
        partition = f"{row.tenant}|{row.booked_at:%Y%m%d}"
        key = f"{row.booked_at:%H%M%S}|{row.source}|{row.attempt}"
        await self._tables.put(LEDGER, partition, key, small.ledger_to_fields(row))

    async def between(self, tenant: TenantId, start: datetime, end: datetime) -> AsyncIterator[LedgerRow]:
        """The rows with `start <= booked_at < end`, oldest first. One look-up a day of the window."""
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        while day < end:
            async for entity in self._tables.scan(LEDGER, f"{tenant}|{day:%Y%m%d}"):
                row = small.ledger_from_fields(entity.fields)
                if start <= row.booked_at < end:
                    yield row
            day += timedelta(days=1)

"""Findings, and the outbox of events that still have to be published."""

import contextlib
import hashlib
import zlib
from collections.abc import AsyncIterator
from typing import Final

from shared.domain.errors import Conflict
from shared.domain.findings import Finding
from shared.domain.ids import TenantId
from shared.ports.events import Event
from shared.ports.tables import Tables
from shared.wire.records import small

FINDINGS: Final = "findings"
OUTBOX: Final = "outbox"
SHARDS: Final = 8
# Findings that no tenant may see. A tenant is a slug, so the name cannot be one.
OPERATORS: Final = "-operators"


class Findings:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @staticmethod
    def _row(finding: Finding) -> str:
        return f"{finding.kind.value}-{hashlib.sha256(finding.subject.encode()).hexdigest()[:32]}"

    async def has(self, finding: Finding) -> bool:
        return await self._tables.get(FINDINGS, finding.tenant or OPERATORS, self._row(finding)) is not None

    async def record(self, finding: Finding) -> None:
        """The first one stays: a repeat changes nothing."""
        fields = small.finding_to_fields(finding)
        with contextlib.suppress(Conflict):
            await self._tables.insert(FINDINGS, finding.tenant or OPERATORS, self._row(finding), fields)

    async def of(self, tenant: TenantId | None) -> AsyncIterator[Finding]:
        """A tenant's findings, or with None those that concern operators only. In no useful order."""
        async for entity in self._tables.scan(FINDINGS, tenant or OPERATORS):
            yield small.finding_from_fields(entity.fields)


class Outbox:
    """An event stays here until it has been published."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    @staticmethod
    def _shard(event_id: str) -> str:
        return f"out-{zlib.crc32(event_id.encode()) % SHARDS}"

    @staticmethod
    def _row(event_id: str) -> str:
        return hashlib.sha256(event_id.encode()).hexdigest()

    async def add(self, event: Event) -> None:
        fields = small.event_to_fields(event)
        await self._tables.put(OUTBOX, self._shard(event.id), self._row(event.id), fields)

    async def remove(self, event: Event) -> None:
        await self._tables.delete(OUTBOX, self._shard(event.id), self._row(event.id))

    async def waiting(self) -> AsyncIterator[Event]:
        for shard in range(SHARDS):
            async for entity in self._tables.scan(OUTBOX, f"out-{shard}"):
                yield small.event_from_fields(entity.fields)

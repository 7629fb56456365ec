"""Tables in a dictionary, under the same promises and limits as the real ones."""

import asyncio
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, islice

from shared.adapters.limits import check_entity, check_key, check_table
from shared.domain.errors import Conflict
from shared.ports.tables import Entity, Fields, Value

PAGE_ROWS = 100


@dataclass(slots=True)
class _Partition:
    rows: dict[str, Entity] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)

    def store(self, entity: Entity) -> Entity:
        if entity.row not in self.rows:
            insort(self.order, entity.row, key=_place)
        self.rows[entity.row] = entity
        return entity

    def drop(self, row: str) -> None:
        del self.rows[row]
        del self.order[bisect_left(self.order, _place(row), key=_place)]

    def page(self, start: str) -> list[Entity]:
        first = bisect_left(self.order, _place(start), key=_place)
        return [self.rows[row] for row in islice(self.order, first, first + PAGE_ROWS)]


class MemoryTables:
    """Lives as long as the object: hand the same one to the next app to survive a restart.

    Every verb lets other tasks run before it acts, so that races between callers happen in tests too.
    """

    def __init__(self) -> None:
        self._partitions: dict[tuple[str, str], _Partition] = defaultdict(_Partition)
        self._versions = count(1)

    async def get(self, table: str, partition: str, row: str) -> Entity | None:
        check_key(row)
        return (await self._partition(table, partition)).rows.get(row)

    async def insert(self, table: str, partition: str, row: str, fields: Fields) -> Entity:
        check_entity(partition, row, fields)
        stored = await self._partition(table, partition)
        if row in stored.rows:
            raise Conflict(f"row {row!r} of {table!r} exists")
        return stored.store(self._entity(partition, row, fields))

    async def replace(self, table: str, entity: Entity, fields: Fields) -> Entity:
        check_entity(entity.partition, entity.row, fields)
        stored = await self._partition(table, entity.partition)
        current = stored.rows.get(entity.row)
        if current is None or current.etag != entity.etag:
            raise Conflict(f"row {entity.row!r} of {table!r} has changed")
        return stored.store(self._entity(entity.partition, entity.row, fields))

    async def put(self, table: str, partition: str, row: str, fields: Fields) -> None:
        check_entity(partition, row, fields)
        stored = await self._partition(table, partition)
        stored.store(self._entity(partition, row, fields))

    async def delete(self, table: str, partition: str, row: str, *, etag: str | None = None) -> None:
        check_key(row)
        stored = await self._partition(table, partition)
        current = stored.rows.get(row)
        if current is None:
            return
        if etag is not None and current.etag != etag:
            raise Conflict(f"row {row!r} of {table!r} has changed")
        stored.drop(row)

    async def scan(
        self, table: str, partition: str, *, start: str = "", stop: str | None = None
    ) -> AsyncIterator[Entity]:
        while page := (await self._partition(table, partition)).page(start):
            for entity in page:
                if stop is not None and _place(entity.row) >= _place(stop):
                    return
                yield entity
            start = page[-1].row + "\0"

    async def _partition(self, table: str, partition: str) -> _Partition:
        check_table(table)
        check_key(partition)
        await asyncio.sleep(0)
        return self._partitions[table, partition]

    def _entity(self, partition: str, row: str, fields: Fields) -> Entity:
        kept = {name: _as_stored(value) for name, value in fields.items()}
        return Entity(partition=partition, row=row, fields=kept, etag=f'W/"{next(self._versions)}"')


def _place(row: str) -> bytes:
    """Rows are ordered by UTF-16 units, as in the service."""
    return row.encode("utf-16-be")


def _as_stored(value: Value) -> Value:
    """What comes back: plain strings, and instants in UTC, whatever subclass or zone went in."""
    match value:
        case str():
            return str(value)
        case bool():
            return value
        case int():
            return int(value)
        case datetime():
            return value.astimezone(UTC)

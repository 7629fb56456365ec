"""Small state: entities under a partition and a row key, changed by compare-and-set.

Keys are UTF-8 without `/ \\ # ?` and control characters, at most 512 characters. An entity's values are
strings, booleans, integers below 2**63 in size, or aware datetimes; a string holds at most 30,000
characters and an entity at most 400,000 bytes. Implementations enforce these limits with `ValueError`
before anything is sent.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

Value = str | bool | int | datetime
Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """What is stored. `etag` names this very version of it."""

    partition: str
    row: str
    fields: Fields
    etag: str


class Tables(Protocol):
    """Durable before any writing verb returns. Every verb may raise `TryAgainLater`.

    A write whose answer was lost may have happened: `insert` and `replace` then raise `Conflict` on repeat,
    and the caller reads what is there.
    """

    async def get(self, table: str, partition: str, row: str) -> Entity | None: ...

    async def insert(self, table: str, partition: str, row: str, fields: Fields) -> Entity:
        """Raise `Conflict` if the row exists."""
        ...

    async def replace(self, table: str, entity: Entity, fields: Fields) -> Entity:
        """Store `fields`, all of them, if the row is still `entity`; else raise `Conflict`."""
        ...

    async def put(self, table: str, partition: str, row: str, fields: Fields) -> None:
        """Store `fields`, whatever was there."""
        ...

    async def delete(self, table: str, partition: str, row: str, *, etag: str | None = None) -> None:
        """Absent is fine. With `etag`, raise `Conflict` if the row has another version."""
        ...

    def scan(
        self, table: str, partition: str, *, start: str = "", stop: str | None = None
    ) -> AsyncIterator[Entity]:
        """The partition's rows with `start <= row < stop`, ascending by row key, fetched page by page."""
        ...

"""Where passes that go on for longer than one timer's tick have got to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.ports.tables import Tables
from shared.wire.records.document import instant, moment, needed_moment, pack, unpack

CURSORS: Final = "cursors"
SCHEMA: Final = "cursor/1"
_PARTITION: Final = "sweep"


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One walk over everything. `cursor` None: it begins. `verified_until`: what is older was seen before."""

    cursor: str | None
    began_at: datetime
    verified_until: datetime | None = None


class Cursors:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, name: str) -> Round | None:
        entity = await self._tables.get(CURSORS, _PARTITION, name)
        if entity is None:
            return None
        record = unpack(entity.fields, known=(SCHEMA,))
        return Round(
            cursor=record["cursor"],
            began_at=needed_moment(record["began_at"]),
            verified_until=moment(record["verified_until"]),
        )

    async def put(self, name: str, place: Round) -> None:
        record = {
            "cursor": place.cursor,
            "began_at": instant(place.began_at),
            "verified_until": instant(place.verified_until),
        }
        await self._tables.put(CURSORS, _PARTITION, name, pack(SCHEMA, record))

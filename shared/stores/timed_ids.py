"""Ids that start with their time, and the rows under which a listing finds the newest first without an index."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from shared.ports.tables import Entity

_MILLIS_DIGITS: Final = 12
_ENTROPY_DIGITS: Final = 16
_LAST: Final = 16**_MILLIS_DIGITS - 1


def timed_id(prefix: str, millis: int, entropy: str) -> str:
    """`millis` since 1970; `entropy`: 16 hex digits."""
    return f"{prefix}{millis:0{_MILLIS_DIGITS}x}{entropy}"


def newest_first_row(name: str, prefixes: tuple[str, ...]) -> str | None:
    """The row of this id; None when `timed_id` cannot have made it with one of these prefixes."""
    prefix = next((p for p in prefixes if name.startswith(p)), None)
    if prefix is None:
        return None
    digits = name[len(prefix) :]
    if len(digits) != _MILLIS_DIGITS + _ENTROPY_DIGITS or not set(digits) <= set("0123456789abcdef"):
        return None
    return f"{_LAST - int(digits[:_MILLIS_DIGITS], 16):0{_MILLIS_DIGITS}x}-{name}"


async def merged_by_row(scans: Sequence[AsyncIterator[Entity]]) -> AsyncIterator[Entity]:
    """Several scans, each in the order of its rows, as one. Reads one entity ahead in each."""
    heads = [(entity, scan) for scan in scans if (entity := await anext(scan, None))]
    while heads:
        first = min(heads, key=lambda head: head[0].row)
        heads.remove(first)
        entity, scan = first
        yield entity
        if (following := await anext(scan, None)) is not None:
            heads.append((following, scan))

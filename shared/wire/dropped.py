"""The input of a job over documents of the drop zone, line by line. Only we write and read it."""

from typing import Final

import msgspec


class DroppedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One version of one document. `path` is below the container."""

    custom_id: str
    path: str
    etag: str


class FactsLine(msgspec.Struct, frozen=True, kw_only=True):
    """What its reading has shown, for its result."""

    media_type: str | None = None
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()


_encode: Final = msgspec.json.Encoder().encode
read_dropped: Final = msgspec.json.Decoder(DroppedLine).decode
read_facts: Final = msgspec.json.Decoder(FactsLine).decode


def line(content: DroppedLine | FactsLine) -> bytes:
    return _encode(content) + b"\n"

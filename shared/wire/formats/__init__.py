"""Results as files of other kinds, converted while they stream."""

from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from shared.wire.formats.csv_text import to_csv
from shared.wire.formats.parquet import to_parquet

type Batches = AsyncIterable[list[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """`convert` takes result lines in batches and gives the file in pieces, in flat memory."""

    media_type: str
    extension: str
    convert: Callable[[Batches], AsyncGenerator[bytes]]


async def to_jsonl(batches: Batches) -> AsyncGenerator[bytes]:
    """The lines as they are."""
    async for lines in batches:
        if lines:
            yield b"\n".join(lines) + b"\n"


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "jsonl": Format(media_type="application/x-ndjson", extension="jsonl", convert=to_jsonl),
        "csv": Format(media_type="text/csv; charset=utf-8", extension="csv", convert=to_csv),
        "parquet": Format(
            media_type="application/vnd.apache.parquet", extension="parquet", convert=to_parquet
        ),
    }
)

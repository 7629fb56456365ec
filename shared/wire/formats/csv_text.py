"""Results as CSV for spreadsheets: RFC 4180, UTF-8, a header always, and no cell that runs."""

import csv
import io
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import Final

from shared.wire.formats.table import COLUMNS, TableRow, table_row

# The provider's whole answer would not fit a spreadsheet's cell, and what people read is in `output`.
CSV_COLUMNS: Final = tuple(name for name in COLUMNS if name != "response")

# Spreadsheets run what begins like this; full-width forms included, which some of them normalise.
_RUNS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


async def to_csv(batches: AsyncIterable[list[bytes]]) -> AsyncGenerator[bytes]:
    """A cell that a spreadsheet would run is preceded by an apostrophe; numbers are left as they are."""
    yield _encoded([CSV_COLUMNS])
    async for lines in batches:
        if lines:
            yield _encoded(_cells(table_row(line)) for line in lines)


def _cells(row: TableRow) -> list[object]:
    return [safe_cell(getattr(row, name)) for name in CSV_COLUMNS]


def safe_cell(value: object) -> object:
    """A text that a spreadsheet would run gets an apostrophe; None makes an empty cell."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() if value.startswith(_RUNS):
            return "'" + value
        case _:
            return value


def _encoded(rows: Iterable[Iterable[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()

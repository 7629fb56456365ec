"""The same results as JSONL, CSV and Parquet, complete and while they stream."""

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from random import Random

import pytest
from arro3.core import Table
from arro3.io import read_parquet

from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.usage import Spend, Usage
from shared.wire.formats import FORMATS
from shared.wire.formats.csv_text import CSV_COLUMNS
from shared.wire.formats.parquet import ROWS_A_GROUP
from shared.wire.formats.table import COLUMNS
from shared.wire.results import settled_line, with_custom_id

RESPONSE = b'{"id":"c"}'


def line(custom_id: str, output: object, *, known: bool = True) -> bytes:
    settled = settled_line(
        position=1,
        key=RequestKey("run-0"),
        judgement=Judgement(
            outcome=Outcome.SUCCEEDED, output=json.dumps(output, separators=(",", ":")).encode()
        ),
        response=RESPONSE if known else None,
        usage=Usage(uncached_input=5, output=2) if known else None,
        spend=Spend(amount=Decimal("0.0000012"), standard=Decimal("0.0000024")) if known else None,
        provider="openai",
        model="gpt",
        attempts=1,
    )
    return with_custom_id(settled, custom_id)


async def batches(*lists: list[bytes]) -> AsyncIterator[list[bytes]]:
    for lines in lists:
        yield lines


async def converted(name: str, source: AsyncIterator[list[bytes]]) -> bytes:
    return b"".join([piece async for piece in FORMATS[name].convert(source)])


async def csv_rows(*lines: bytes) -> list[dict[str, str]]:
    text = (await converted("csv", batches(list(lines)))).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


async def parquet_rows(source: AsyncIterator[list[bytes]]) -> tuple[list[str], list[dict[str, object]]]:
    table: Table = read_parquet(io.BytesIO(await converted("parquet", source))).read_all()
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    rows = zip(*columns.values(), strict=True)
    return list(columns), [dict(zip(columns, row, strict=True)) for row in rows]


async def test_jsonl_is_the_lines_themselves() -> None:
    one, two = line("a", "x"), line("b", {"n": 1})
    assert await converted("jsonl", batches([one], [], [two])) == one + b"\n" + two + b"\n"
    assert await converted("jsonl", batches()) == b""


async def test_csv_has_a_header_even_without_rows() -> None:
    assert await converted("csv", batches()) == ",".join(CSV_COLUMNS).encode() + b"\r\n"


async def test_csv_holds_any_text() -> None:
    text = 'first, "second"\nthird\r\n😀\u2028'
    (row,) = await csv_rows(line("a;b", text))
    assert (row["custom_id"], row["output"]) == ("a;b", text)
    assert (row["input_tokens"], row["cost_usd"]) == ("5", "0.0000012")
    assert (row["reused"], row["reason"]) == ("false", "")


async def test_csv_shows_objects_and_vectors_as_json() -> None:
    rows = await csv_rows(line("a", {"total": 1}), line("b", [0.5, -1]))
    assert [json.loads(row["output"]) for row in rows] == [{"total": 1}, [0.5, -1]]


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1"])
async def test_no_cell_runs_in_a_spreadsheet(start: str) -> None:
    (row,) = await csv_rows(line(start, start))
    assert (row["custom_id"], row["output"]) == ("'" + start, "'" + start)


async def test_what_is_not_known_is_an_empty_cell() -> None:
    (row,) = await csv_rows(line("a", "x", known=False))
    assert (row["input_tokens"], row["cost_usd"]) == ("", "")


async def test_parquet_keeps_every_column_and_its_type() -> None:
    names, rows = await parquet_rows(batches([line("a", "Ü\x00\n"), line("b", {"n": 1}, known=False)]))
    assert tuple(names) == COLUMNS
    first, second = rows
    assert (first["custom_id"], first["output"], first["reused"]) == ("a", "Ü\x00\n", False)
    assert (first["input_tokens"], first["cost_usd"]) == (5, Decimal("0.0000012"))
    assert first["response"] == RESPONSE.decode()
    assert (second["output"], second["input_tokens"], second["cost_usd"]) == ('{"n":1}', None, None)


async def test_parquet_without_rows_is_a_valid_file() -> None:
    names, rows = await parquet_rows(batches())
    assert (tuple(names), rows) == (COLUMNS, [])


async def test_parquet_is_written_in_groups_and_in_order() -> None:
    count = 3 * ROWS_A_GROUP + 5
    source = batches(*([line(str(n), "x" * 50)] for n in range(count)))
    _, rows = await parquet_rows(source)
    assert [row["custom_id"] for row in rows] == [str(n) for n in range(count)]


async def test_parquet_begins_to_arrive_before_the_last_row_was_read() -> None:
    read, noise = 0, Random(7)

    async def source() -> AsyncIterator[list[bytes]]:
        nonlocal read
        for read in range(1, 40_001):
            yield [line(str(read), noise.randbytes(300).hex())]

    pieces = FORMATS["parquet"].convert(source())
    first = await anext(pieces)
    second = await anext(pieces)
    assert (first + second)[:4] == b"PAR1"
    assert read < 40_000
    await pieces.aclose()


async def test_a_reader_that_leaves_leaves_nothing_behind() -> None:
    endless = True

    async def source() -> AsyncIterator[list[bytes]]:
        while endless:
            yield [line(str(n), "x" * 500) for n in range(100)]

    pieces = FORMATS["parquet"].convert(source())
    await anext(pieces)
    async with asyncio.timeout(20):
        await pieces.aclose()
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_source_that_fails_fails_the_file() -> None:
    async def source() -> AsyncIterator[list[bytes]]:
        yield [line("a", "x")]
        raise OSError("storage is gone")

    for name in FORMATS:
        with pytest.raises(OSError, match="storage is gone"):
            await converted(name, source())

"""Results as Parquet, written by row groups while they stream: no file, no seeking, flat memory.

The writer is synchronous and pulls; it runs in a thread that asks the event loop for rows and hands it bytes.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Coroutine
from typing import IO, Any, Final, cast

import msgspec
from arro3.core import DataType, Field, Schema
from arro3.io import read_json, write_parquet

from shared.wire.formats.table import COLUMNS, table_row

# A row group is held until it is complete: small enough for long answers, large enough to compress.
ROWS_A_GROUP: Final = 1024
_ROWS_A_BATCH: Final = 128
# So many finished pieces wait for a slow reader before the writer does.
_PIECES_AHEAD: Final = 4

_INTEGERS: Final = frozenset(name for name in COLUMNS if name.endswith("_tokens")) | {"attempts"}
_REQUIRED: Final = frozenset({"custom_id", "outcome", "provider", "model", "attempts", "reused"})
_encode: Final = msgspec.json.Encoder().encode


async def to_parquet(batches: AsyncIterable[list[bytes]]) -> AsyncGenerator[bytes]:
    """`cost_usd` is an exact decimal; `output` and `response` are strings. No rows make a valid file too."""
    loop = asyncio.get_running_loop()
    source, sink = _Source(batches, loop), _Sink(loop)
    writing = asyncio.create_task(_write(source, sink))
    try:
        while (piece := await sink.pieces.get()) is not None:
            yield piece
        await writing
    finally:
        source.abandon()
        sink.abandon()
        # Cut short, the rows end in the middle of one: what the writer says of that interests nobody.
        await asyncio.gather(writing, return_exceptions=True)


async def _write(source: "_Source", sink: "_Sink") -> None:
    try:
        await asyncio.to_thread(_write_all, source, sink)
    except Exception:
        if source.failure is not None:
            raise source.failure from None
        raise
    finally:
        await sink.pieces.put(None)


def _write_all(source: "_Source", sink: "_Sink") -> None:
    # Of a file both ends have what the library calls: `read`, and `write` with `flush`.
    rows = read_json(cast("IO[bytes]", source), _schema(), batch_size=_ROWS_A_BATCH)
    write_parquet(rows, cast("IO[bytes]", sink), compression="zstd(3)", max_row_group_size=ROWS_A_GROUP)


def _schema() -> Schema:
    return Schema([Field(name, _type_of(name), nullable=name not in _REQUIRED) for name in COLUMNS])


def _type_of(name: str) -> DataType:
    if name in _INTEGERS:
        return DataType.int64()
    match name:
        case "reused":
            return DataType.bool()
        case "cost_usd":
            return DataType.decimal128(38, 18)
        case _:
            return DataType.string()


class _Unseekable:
    """The library wants the method to exist, and does not call it."""

    def seek(self, *_: object) -> int:
        raise OSError("this is a stream")


class _Source(_Unseekable):
    """Rows as flat JSON lines, read by the writer's thread."""

    def __init__(self, batches: AsyncIterable[list[bytes]], loop: asyncio.AbstractEventLoop) -> None:
        self._batches = aiter(batches)
        self._loop = loop
        self._rest = memoryview(b"")
        self._abandoned = False
        self.failure: Exception | None = None

    def abandon(self) -> None:
        """Let the writer come to its end."""
        self._abandoned = True

    def read(self, size: int) -> bytes:
        while not self._rest:
            if self._abandoned:
                return b""
            lines = _ask(self._loop, self._next())
            if lines is None:
                return b""
            self._rest = memoryview(b"".join(_encode(table_row(line)) + b"\n" for line in lines))
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)

    async def _next(self) -> list[bytes] | None:
        try:
            return await anext(self._batches, None)
        except Exception as error:
            self.failure = error
            raise


class _Sink(_Unseekable):
    """Finished bytes, written by the writer's thread. Never fails: the library would take that for a bug."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue(_PIECES_AHEAD)
        self._loop = loop
        self._abandoned = False

    def abandon(self) -> None:
        """Drop what is and what will be written, and let a writer that waits for room go on."""
        self._abandoned = True
        while not self.pieces.empty():
            self.pieces.get_nowait()

    def write(self, piece: bytes) -> int:
        if not self._abandoned:
            _ask(self._loop, self.pieces.put(bytes(piece)))
        return len(piece)

    def flush(self) -> None:
        """Every write is handed on at once."""


def _ask[Answer](loop: asyncio.AbstractEventLoop, question: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run_coroutine_threadsafe(question, loop).result()

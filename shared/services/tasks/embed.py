"""Vectors of a document's pieces, for a search index."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

from shared.domain.catalog import Endpoint
from shared.domain.errors import Deferred, Rejected
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.ports.splitter import Piece
from shared.services.tasks.room import Room, too_large
from shared.services.tasks.work import Reply, Work

_SPLIT_TOKENS: Final = 800
_LEAST_SPLIT: Final = 16
# The answer holds them all in memory: forty megabytes of vectors.
MOST_PIECES: Final = 2_000
# What a call may hold: of inputs by the size of its answer, of tokens by OpenAI's bound of 300,000.
_INPUTS_A_CALL: Final = 64
_TOKENS_A_CALL: Final = 250_000


class _Embedded(msgspec.Struct):
    n: int
    start: int
    end: int
    tokens: int
    text: str
    vector: Raw


async def embed(work: Work) -> Reply:
    room = await work.room("")
    if room.most < _LEAST_SPLIT:
        return Reply(judgement=room.too_large())
    size = _piece_size(work, room)
    if room.text > size * MOST_PIECES:
        return Reply(judgement=_too_many(room, room.text // size, size))
    text = work.order.text
    cut = await work.split(room, text, most_tokens=size)
    pieces = [piece for piece in cut if text[piece.start : piece.end].strip()]
    if len(pieces) > MOST_PIECES:
        return Reply(judgement=_too_many(room, len(pieces), size))
    vectors: list[Raw] = []
    for batch in _batches(pieces, min(max(room.good, size), _TOKENS_A_CALL)):
        found = await _vectors(work, batch)
        if isinstance(found, Judgement):
            return Reply(judgement=found)
        vectors += found
    return Reply(judgement=Judgement(outcome=Outcome.SUCCEEDED, output=_output(text, pieces, vectors)))


def _piece_size(work: Work, room: Room) -> int:
    asked = work.order.pipeline.split_tokens
    fits = room.most
    if asked is None:
        return min(_SPLIT_TOKENS, fits)
    if not _LEAST_SPLIT <= asked <= fits:
        raise Rejected(
            f"pipeline {work.order.pipeline.name!r} splits by {asked:,} tokens; {_LEAST_SPLIT} to {fits:,} can be"
            f" embedded at once by {room.model}",
            code="invalid_request",
        )
    return asked


def _batches(pieces: Sequence[Piece], most_tokens: int) -> Iterator[list[Piece]]:
    batch: list[Piece] = []
    tokens = 0
    for piece in pieces:
        if batch and (tokens + piece.tokens > most_tokens or len(batch) == _INPUTS_A_CALL):
            yield batch
            batch, tokens = [], 0
        batch.append(piece)
        tokens += piece.tokens
    if batch:
        yield batch


async def _vectors(work: Work, batch: Sequence[Piece]) -> list[Raw] | Judgement:
    texts = [work.order.text[piece.start : piece.end] for piece in batch]
    judgement = await work.asking.ask({"input": texts}, endpoint=Endpoint.EMBEDDINGS)
    if judgement.outcome is not Outcome.SUCCEEDED or judgement.output is None:
        return judgement
    # A single vector is not wrapped.
    vectors = (
        msgspec.json.decode(judgement.output, type=list[Raw]) if len(batch) > 1 else [Raw(judgement.output)]
    )
    if len(vectors) != len(batch):
        raise Deferred(
            f"{len(batch)} texts were answered with {len(vectors)} vectors",
            retry_after=work.asking.ways.pace.pacing.short_wait,
            fault="provider_error",
        )
    return vectors


def _output(text: str, pieces: Sequence[Piece], vectors: Sequence[Raw]) -> bytes:
    return msgspec.json.encode(
        [
            _Embedded(
                n=number,
                start=piece.start,
                end=piece.end,
                tokens=piece.tokens,
                text=text[piece.start : piece.end],
                vector=vector,
            )
            for number, (piece, vector) in enumerate(zip(pieces, vectors, strict=True))
        ]
    )


def _too_many(room: Room, pieces: int, size: int) -> Judgement:
    return too_large(
        f"the document has {room.text:,} tokens, about {pieces:,} pieces of {size:,};"
        f" {MOST_PIECES:,} pieces are the most for one document"
    )

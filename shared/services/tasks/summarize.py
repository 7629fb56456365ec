"""Summaries of documents of any length: what is too long is read in parts, and the notes are summed up."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.services.tasks.prompts import instructions_of, notes_on, request_for, whole_of
from shared.services.tasks.room import Room, too_large
from shared.services.tasks.work import MOST_CALLS, Part, Reply, Work, part_of

# Notes on notes on notes: deeper, and nothing of the document is left.
_DEPTH: Final = 3
_LEAST_PIECE: Final = 256
_READABLE: Final = frozenset({Outcome.SUCCEEDED, Outcome.TRUNCATED})


async def summarize(work: Work) -> Reply:
    check = work.check(work.order.schema)
    room = await work.room(instructions_of(work.order))
    if room.text <= room.good:
        return Reply(judgement=await work.asking.ask(request_for(work.order), check=check))
    if room.good < _LEAST_PIECE:
        return Reply(judgement=room.too_large())
    return await _in_parts(work, room)


async def _in_parts(work: Work, room: Room) -> Reply:
    text, parts = work.order.text, None
    for _ in range(_DEPTH):
        found = await _notes(work, room, text)
        if isinstance(found, Reply):
            return found if parts is None else replace(found, parts=parts)
        notes, read = found
        parts = read if parts is None else parts
        text = "\n\n".join(notes)
        (tokens,) = await work.asking.ways.count(room.model, [text])
        if tokens <= room.good:
            body = whole_of(work.order, notes)
            return Reply(
                judgement=await work.asking.ask(body, check=work.check(work.order.schema)), parts=parts
            )
    notes_left = f"after {_DEPTH} rounds the notes on the document still have {tokens:,} tokens"
    return Reply(judgement=too_large(f"{notes_left}; {room.good:,} fit into one question"), parts=parts)


async def _notes(work: Work, room: Room, text: str) -> tuple[list[str], Sequence[Part]] | Reply:
    """Notes on every piece; the reply where they cannot be had."""
    pieces = await work.split(room, text, most_tokens=room.good)
    if len(pieces) + work.asking.calls >= MOST_CALLS:
        return Reply(
            judgement=too_large(
                f"the document has {room.text:,} tokens: {len(pieces)} parts of at most {room.good:,};"
                f" {MOST_CALLS} questions are the most for one document"
            )
        )
    notes: list[str] = []
    parts: list[Part] = []
    for number, piece in enumerate(pieces, start=1):
        said = text[piece.start : piece.end]
        judgement = await work.asking.ask(notes_on(work.order, number, len(pieces), said))
        note = _text(judgement)
        parts.append({**part_of(piece, number, judgement), "output": note})
        if note is None:
            return Reply(judgement=_stopped(judgement, number, len(pieces)), parts=parts)
        notes.append(note)
    return notes, parts


def _text(judgement: Judgement) -> str | None:
    if judgement.outcome not in _READABLE or judgement.output is None:
        return None
    return msgspec.json.decode(judgement.output, type=str)


def _stopped(judgement: Judgement, number: int, total: int) -> Judgement:
    where = f"part {number} of {total}"
    message = f"{where}: {judgement.message}" if judgement.message else where
    return replace(judgement, message=message, output=None)

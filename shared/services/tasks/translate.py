"""Translations into several languages: one question a language, or one a piece where the document is long."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import msgspec

from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.ports.splitter import Piece
from shared.services.tasks.prompts import instructions_of, schema_for, translation_of
from shared.services.tasks.room import Room, too_large
from shared.services.tasks.work import MOST_CALLS, Part, Reply, Work

# A translation has about as many tokens as its text, in some languages twice as many.
_GROWTH: Final = 2
_LEAST_PIECE: Final = 64


async def translate(work: Work) -> Reply:
    schema_for(work.order)  # refuses an order without languages
    room = await work.room(instructions_of(work.order))
    size = _piece_size(work, room)
    if size < _LEAST_PIECE:
        return Reply(judgement=room.too_large())
    languages = work.order.pipeline.languages
    pieces = await work.split(room, work.order.text, most_tokens=size)
    if len(pieces) * len(languages) > MOST_CALLS:
        return Reply(judgement=_too_many(room, pieces, languages, size))
    verdicts = {language: await _into(work, language, pieces) for language in languages}
    return Reply(judgement=_overall(verdicts), parts=[_part(*verdict) for verdict in verdicts.items()])


def _piece_size(work: Work, room: Room) -> int:
    limit = work.order.alias.max_output_tokens
    return room.good if limit is None else min(room.good, limit // _GROWTH)


async def _into(work: Work, language: str, pieces: Sequence[Piece]) -> Judgement:
    """One language. A piece that has no answer ends it; one that was cut ends it with what there is."""
    translated: list[str] = []
    judgement = Judgement(outcome=Outcome.SUCCEEDED)
    for piece in pieces:
        text = work.order.text[piece.start : piece.end]
        body = text.strip()
        if not body:
            translated.append(text)
            continue
        judgement = await work.asking.ask(translation_of(work.order, language, body))
        if judgement.output is None:
            return judgement
        # Models trim; the blanks between the pieces are the document's.
        translated.append(text.replace(body, msgspec.json.decode(judgement.output, type=str).strip()))
        if judgement.outcome is not Outcome.SUCCEEDED:
            break
    return replace(judgement, output=msgspec.json.encode("".join(translated)))


def _overall(verdicts: dict[str, Judgement]) -> Judgement:
    """Succeeded if all did; else the first that did not says why. What there is, is handed out."""
    done = {language: msgspec.Raw(verdict.output) for language, verdict in verdicts.items() if verdict.output}
    output = msgspec.json.encode(done) if done else None
    for language, verdict in verdicts.items():
        if verdict.outcome is not Outcome.SUCCEEDED:
            message = f"{language}: {verdict.message}" if verdict.message else language
            return replace(verdict, message=message, output=output)
    return Judgement(outcome=Outcome.SUCCEEDED, output=output)


def _part(language: str, verdict: Judgement) -> Part:
    return {
        "language": language,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "message": verdict.message,
    }


def _too_many(room: Room, pieces: Sequence[Piece], languages: Sequence[str], size: int) -> Judgement:
    return too_large(
        f"the document has {room.text:,} tokens: {len(pieces)} parts of at most {size:,}, in"
        f" {len(languages)} languages; {MOST_CALLS} questions are the most for one document."
        " A larger max_output_tokens of the alias makes fewer parts"
    )

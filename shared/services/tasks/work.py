"""What a task is given to work with, and what it hands back."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.rows import CheckAnswer, Judgement
from shared.domain.tasks import TaskOrder
from shared.ports.schemas import Schemas
from shared.ports.splitter import Piece, Splitter
from shared.ports.windows import Windows
from shared.services.tasks.asking import MUCH_TEXT, Asking
from shared.services.tasks.room import Room, measure

# A document that takes more questions is no work of minutes.
MOST_CALLS: Final = 100

type Part = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The verdict on the task as a whole. `parts` None: it was one question."""

    judgement: Judgement
    parts: Sequence[Part] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    order: TaskOrder
    asking: Asking
    schemas: Schemas
    splitter: Splitter
    windows: Windows

    async def room(self, instructions: str) -> Room:
        return await measure(
            self.order, instructions, self.asking.deployments, self.asking.ways, self.windows
        )

    async def split(self, room: Room, text: str, *, most_tokens: int) -> Sequence[Piece]:
        if len(text) < MUCH_TEXT:
            return self.splitter.split(room.model, text, most_tokens=most_tokens)
        return await asyncio.to_thread(self.splitter.split, room.model, text, most_tokens=most_tokens)

    def check(self, schema: Mapping[str, object] | None) -> CheckAnswer | None:
        """Raise `Rejected` for a schema that cannot be used."""
        return None if schema is None else self.schemas.checker(schema)


Task = Callable[[Work], Coroutine[Any, Any, Reply]]


def part_of(piece: Piece, number: int, judgement: Judgement) -> Part:
    """One piece's outcome, as it is shown."""
    return {
        "n": number,
        "start": piece.start,
        "end": piece.end,
        "outcome": judgement.outcome.value,
        "reason": judgement.reason,
        "message": judgement.message,
    }

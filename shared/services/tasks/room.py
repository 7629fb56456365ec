"""How much of a document goes into one question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from shared.domain.catalog import Deployment
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.tasks import TaskOrder
from shared.ports.windows import Windows
from shared.services.tasks.asking import UNTOLD_OUTPUT, Ways
from shared.services.tasks.prompts import EMBED

# Below this a question's frame would cost more than what it holds.
_LEAST_GOOD: Final = 2_000
_FRAME: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """`text`: tokens of the document. `most`: what fits into one question beside prompt and answer.

    `good`: what one question should hold, so that one document does not use up a minute of the deployment.
    All for the narrowest of the deployments that may be asked, `model`.
    """

    text: int
    most: int
    good: int
    model: str

    @property
    def is_enough(self) -> bool:
        return self.text <= self.most

    def too_large(self) -> Judgement:
        return too_large(
            f"the document has {self.text:,} tokens; {max(self.most, 0):,} fit into one question to"
            f" {self.model} beside the prompt and the answer"
        )


def too_large(message: str) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason="too_large", message=message)


def _answer(order: TaskOrder) -> int:
    """The tokens to keep for it; a vector takes none."""
    return 0 if order.task == EMBED else order.alias.max_output_tokens or UNTOLD_OUTPUT


async def measure(
    order: TaskOrder, instructions: str, deployments: Sequence[Deployment], ways: Ways, windows: Windows
) -> Room:
    schema = msgspec.json.encode(order.schema).decode() if order.schema else ""
    rooms = []
    for deployment in deployments:
        text, beside = await ways.count(deployment.model, [order.text, f"{instructions}\n{schema}"])
        taken = beside + _FRAME + _answer(order)
        limits = [windows.tokens(deployment), deployment.limits.tokens_per_minute]
        most = min(limit for limit in limits if limit is not None) - taken
        share = ways.pace.share(deployment)
        good = most if share is None else min(most, max(share // 2 - taken, _LEAST_GOOD))
        rooms.append(Room(text=text, most=most, good=good, model=deployment.model))
    return min(rooms, key=lambda room: (room.good, room.most))

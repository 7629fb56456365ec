"""What one step of a chunk leaves behind: the chunk, moved on, or the time until the next try."""

from dataclasses import dataclass
from datetime import timedelta

from shared.domain.chunks import Chunk
from shared.stores.stored import Stored


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing more can be done for this chunk before `for_` has passed."""

    for_: timedelta


Step = Stored[Chunk] | Wait

"""Result lines out of a stream of bytes, in batches, all of them or those of one outcome."""

from collections.abc import AsyncGenerator, AsyncIterable
from typing import Final

from shared.domain.outcomes import Outcome
from shared.wire.jsonl import split
from shared.wire.results import verdict

# Longer than any line of ours.
MAX_LINE: Final = 64 * 1024 * 1024


async def lines_in_batches(
    pieces: AsyncIterable[bytes], *, outcome: Outcome | None = None
) -> AsyncGenerator[list[bytes]]:
    async for handful in split(pieces, max_line_bytes=MAX_LINE):
        lines = [content for _, content in handful if content is not None]
        yield lines if outcome is None else [line for line in lines if verdict(line)[0] is outcome]

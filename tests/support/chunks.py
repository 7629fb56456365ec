"""Inputs of chunks for tests that speak to a provider directly."""

from collections.abc import AsyncIterator

from shared.domain.catalog import Endpoint
from shared.domain.ids import ChunkKey
from shared.ports.providers import ChunkInput, OpenLines


def chunk_input(
    key: ChunkKey, content: bytes = b"{}\n", *, endpoint: Endpoint = Endpoint.CHAT, size: int | None = None
) -> ChunkInput:
    """`size` is what is announced, where that is not the content's."""
    return ChunkInput(
        key=key,
        endpoint=endpoint,
        requests=content.count(b"\n"),
        size=len(content) if size is None else size,
        path=f"tenant/job/chunks/{key}.jsonl",
        open_lines=opened(content),
    )


def opened(content: bytes) -> OpenLines:
    """In small pieces that end anywhere."""

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), 7):
            yield content[start : start + 7]

    return pieces

"""How requests are cut into chunks: as few and as large as every limit allows. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one provider batch may hold. `tokens` is the deployment's whole enqueued quota, if it has one.

    `vectors` is how many embeddings its requests may ask for in all; a request may ask for several.
    """

    requests: int
    bytes: int
    line_bytes: int
    tokens: int | None = None
    vectors: int | None = None

    def lowered(self, *, requests: int | None, bytes_: int | None, tokens: int | None) -> Self:
        """The stricter of these and the given ones, limit by limit."""
        return type(self)(
            requests=min(self.requests, requests or self.requests),
            bytes=min(self.bytes, bytes_ or self.bytes),
            line_bytes=min(self.line_bytes, bytes_ or self.line_bytes),
            tokens=min(filter(None, (self.tokens, tokens)), default=None),
            vectors=self.vectors,
        )


@dataclass(slots=True)
class Packer:
    """Says after which request a chunk is full. Fed in order; keeps four sums."""

    limits: Limits
    requests: int = 0
    bytes: int = 0
    tokens: int = 0
    vectors: int = 0

    def starts_anew(self, size: int, tokens: int, vectors: int = 0) -> bool:
        """Take in a request of `size` bytes and `tokens` tokens; say whether it opens a new chunk."""
        limits = self.limits
        full = self.requests > 0 and (
            self.requests + 1 > limits.requests
            or self.bytes + size > limits.bytes
            or (limits.tokens is not None and self.tokens + tokens > limits.tokens)
            or (limits.vectors is not None and self.vectors + vectors > limits.vectors)
        )
        if full:
            self.requests = self.bytes = self.tokens = self.vectors = 0
        self.requests += 1
        self.bytes += size
        self.tokens += tokens
        self.vectors += vectors
        return full


def vectors_of(body: Mapping[str, object]) -> int:
    """How many embeddings a request asks for: texts and arrays of tokens count each, one array of tokens once."""
    given = body.get("input")
    if isinstance(given, list) and given and not isinstance(given[0], int):
        return len(given)
    return 1

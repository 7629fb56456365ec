"""How requests are cut into chunks: as few and as large as every limit allows. Pure."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one provider batch may hold. `tokens` is the deployment's whole enqueued quota, if it has one."""

    requests: int
    bytes: int
    line_bytes: int
    tokens: int | None = None

    def lowered(self, *, requests: int | None, bytes_: int | None, tokens: int | None) -> Self:
        """The stricter of these and the given ones, limit by limit."""
        return type(self)(
            requests=min(self.requests, requests or self.requests),
            bytes=min(self.bytes, bytes_ or self.bytes),
            line_bytes=min(self.line_bytes, bytes_ or self.line_bytes),
            tokens=min(filter(None, (self.tokens, tokens)), default=None),
        )


@dataclass(slots=True)
class Packer:
    """Says after which request a chunk is full. Fed in order; keeps three sums."""

    limits: Limits
    requests: int = 0
    bytes: int = 0
    tokens: int = 0

    def starts_anew(self, size: int, tokens: int) -> bool:
        """Take in a request of `size` bytes and `tokens` tokens; say whether it opens a new chunk."""
        full = self.requests > 0 and (
            self.requests + 1 > self.limits.requests
            or self.bytes + size > self.limits.bytes
            or (self.limits.tokens is not None and self.tokens + tokens > self.limits.tokens)
        )
        if full:
            self.requests = self.bytes = self.tokens = 0
        self.requests += 1
        self.bytes += size
        self.tokens += tokens
        return full

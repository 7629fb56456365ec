"""The requests of a chunk, one line each, and inputs that share a request."""

from decimal import Decimal

import msgspec

from shared.domain.usage import Spend, Usage


class Member(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`p` is the lowest input position that asks for this request. `spent` is what earlier rounds cost.

    `t` are its tokens, estimated; None where nobody counted. `v` are the embeddings it asks for, beyond one.
    """

    k: str
    p: int
    t: int | None = None
    v: int = 0
    spent: "Spent | None" = None


class Spent(msgspec.Struct, frozen=True, array_like=True):
    """Usage buckets in the order of `Usage`, then what they cost; `None` where nobody told."""

    usage: tuple[int, int, int, int, int]
    amount: str
    standard: str
    unpriced: int

    def figures(self) -> tuple[Usage, Spend]:
        uncached, cached, written, output, reasoning = self.usage
        usage = Usage(
            uncached_input=uncached,
            cached_input=cached,
            cache_write=written,
            output=output,
            reasoning=reasoning,
        )
        spend = Spend(amount=Decimal(self.amount), standard=Decimal(self.standard), unpriced=self.unpriced)
        return usage, spend


def spent_of(usage: Usage, spend: Spend) -> Spent:
    return Spent(
        (usage.uncached_input, usage.cached_input, usage.cache_write, usage.output, usage.reasoning),
        str(spend.amount),
        str(spend.standard),
        spend.unpriced,
    )


class Repeat(msgspec.Struct, frozen=True, array_like=True):
    """A request that several inputs ask for: its lowest position, and the others, ascending."""

    first: int
    others: list[int]


class IndexLine(msgspec.Struct, frozen=True):
    """One input: its custom id and the key of its request."""

    id: str
    k: str


class ChunkSeed(msgspec.Struct, frozen=True):
    """A chunk as the planner cut it, before its record exists."""

    n: int
    requests: int
    bytes: int
    tokens: int | None
    first: int


_encoder = msgspec.json.Encoder()
read_member = msgspec.json.Decoder(Member).decode
read_repeat = msgspec.json.Decoder(Repeat).decode
read_index_line = msgspec.json.Decoder(IndexLine).decode
read_seeds = msgspec.json.Decoder(list[ChunkSeed]).decode


def line(value: msgspec.Struct) -> bytes:
    """One line of JSONL, newline included."""
    return _encoder.encode(value) + b"\n"


def write_seeds(seeds: list[ChunkSeed]) -> bytes:
    return _encoder.encode(seeds)

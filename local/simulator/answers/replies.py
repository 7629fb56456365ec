"""A model's answer and what it cost, before a dialect writes it down."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Inclusive, as OpenAI counts: input contains cached, output contains reasoning."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """`finish` is `stop`, `length` or `content_filter`. A refusal has no text; vectors are for embeddings."""

    text: str = ""
    finish: str = "stop"
    refusal: str | None = None
    vectors: tuple[tuple[float, ...], ...] = ()
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The provider's HTTP error for one request. `body` replaces the dialect's own where it is given."""

    status: int
    code: str | None
    message: str
    body: object = None
    is_filter: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unrun:
    """The request was never run: its batch ended before (`expired`, `cancelled`)."""

    why: str


type Verdict = Reply | Failure | Unrun

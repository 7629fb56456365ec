"""Cutting a long text into pieces that a model can take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text, by positions of characters: `text[start:end]`. `tokens` as the port `Tokens` counts."""

    start: int
    end: int
    tokens: int


class Splitter(Protocol):
    def split(self, model: str, text: str, *, most_tokens: int) -> Sequence[Piece]:
        """Pieces of at most `most_tokens` each, as large as they can be without breaking sentences or words.

        Together they are the text, in order and without gaps; none is empty. A text without any place to cut
        is cut all the same, never inside a character. `text` holds no half surrogate pairs, `most_tokens` is
        16 or more. CPU-bound: call it off the event loop for more than a few hundred kilobytes.
        """
        ...

"""Pieces of long texts through `semantic-text-splitter`, measured by the same tokens that are paid for."""

from collections.abc import Sequence
from typing import Final

from semantic_text_splitter import TextSplitter

from shared.ports.splitter import Piece
from shared.ports.tokens import Tokens

_FEWEST: Final = 16


class SemanticSplitter:
    """Cuts between paragraphs where it can, else between sentences, words, and characters at last."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def split(self, model: str, text: str, *, most_tokens: int) -> Sequence[Piece]:
        if most_tokens < _FEWEST:
            raise ValueError(f"pieces of {most_tokens} tokens are too small; {_FEWEST} is the least")
        if not text:
            return []
        splitter = TextSplitter.from_callback(
            lambda part: self._tokens.count(model, [part])[0], most_tokens, trim=False
        )
        found = splitter.chunk_indices(text)
        counts = self._tokens.count(model, [part for _, part in found])
        return [
            Piece(start=start, end=start + len(part), tokens=tokens)
            for (start, part), tokens in zip(found, counts, strict=True)
        ]

"""Pieces of so many characters, for tests: a token is a character."""

from collections.abc import Sequence

from shared.ports.splitter import Piece


class MemorySplitter:
    def split(self, model: str, text: str, *, most_tokens: int) -> Sequence[Piece]:
        assert most_tokens >= 16, "pieces of fewer than 16 tokens are not promised"
        pieces, start = [], 0
        while start < len(text):
            end = start + most_tokens
            if end < len(text) and (space := text.rfind(" ", start, end)) > start:
                end = space + 1
            end = min(end, len(text))
            pieces.append(Piece(start=start, end=end, tokens=end - start))
            start = end
        return pieces


class MemoryTokens:
    def count(self, model: str, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

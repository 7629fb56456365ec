"""The promises of `shared.ports.splitter.Splitter`."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.memory.splitter import MemorySplitter, MemoryTokens
from shared.adapters.text.splitter import SemanticSplitter
from shared.adapters.text.tokens import ToktokTokens
from shared.ports.splitter import Piece, Splitter
from shared.ports.tokens import Tokens


@dataclass(frozen=True, kw_only=True)
class Cutter:
    splitter: Splitter
    tokens: Tokens
    model: str = "gpt-5-mini"

    def cut(self, text: str, most_tokens: int) -> Sequence[Piece]:
        return self.splitter.split(self.model, text, most_tokens=most_tokens)


_TOKENS = ToktokTokens()
CUTTERS = [
    pytest.param(Cutter(splitter=MemorySplitter(), tokens=MemoryTokens()), id="memory"),
    pytest.param(Cutter(splitter=SemanticSplitter(_TOKENS), tokens=_TOKENS), id="openai-model"),
    pytest.param(
        Cutter(splitter=SemanticSplitter(_TOKENS), tokens=_TOKENS, model="mistral"), id="other-model"
    ),
]

cutters = pytest.mark.parametrize("cutter", CUTTERS)


def parts(text: str, pieces: Sequence[Piece]) -> list[str]:
    return [text[piece.start : piece.end] for piece in pieces]


def assert_promises(cutter: Cutter, text: str, most_tokens: int) -> None:
    pieces = cutter.cut(text, most_tokens)

    assert "".join(parts(text, pieces)) == text
    assert [piece.start for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
    assert all(piece.start < piece.end for piece in pieces)
    counted = cutter.tokens.count(cutter.model, parts(text, pieces))
    assert [piece.tokens for piece in pieces] == counted
    assert max(counted, default=0) <= most_tokens


@cutters
@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=400), most_tokens=st.integers(16, 60))
def test_pieces_are_the_text_and_none_is_too_large(cutter: Cutter, text: str, most_tokens: int) -> None:
    assert_promises(cutter, text, most_tokens)


@cutters
@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦" * 60 + "é" * 60,
        "a" * 3000,
        "\n\n\n".join(["Grüße.\r\n"] * 100),
        "日本語の文章です。" * 80,
        "\x00 \u2028 \x85" * 60,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_texts_of_every_kind(cutter: Cutter, text: str) -> None:
    assert_promises(cutter, text, 40)


@cutters
def test_a_short_text_is_one_piece_and_no_text_is_none(cutter: Cutter) -> None:
    assert [(p.start, p.end) for p in cutter.cut("A heater.", 40)] == [(0, 9)]
    assert list(cutter.cut("", 40)) == []


@cutters
def test_words_are_left_whole_where_they_can_be(cutter: Cutter) -> None:
    text = "heater " * 100

    assert all(
        part.strip().split() == ["heater"] * part.count("heater")
        for part in parts(text, cutter.cut(text, 40))
    )


def test_sentences_are_left_whole_where_they_can_be() -> None:
    text = "The heater is broken since Monday. Please send somebody to the third floor. " * 30
    cutter = Cutter(splitter=SemanticSplitter(_TOKENS), tokens=_TOKENS)

    found = parts(text, cutter.cut(text, 60))

    assert len(found) > 5
    assert all(part.strip().endswith(".") for part in found)


def test_a_megabyte_on_one_line_without_a_space_is_cut_in_seconds() -> None:
    text = "0123456789abcdef" * 65_536
    cutter = Cutter(splitter=SemanticSplitter(_TOKENS), tokens=_TOKENS)
    started = time.process_time()

    pieces = cutter.cut(text, 20_000)

    assert "".join(parts(text, pieces)) == text
    assert time.process_time() - started < 30


def test_tiny_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="16"):
        SemanticSplitter(_TOKENS).split("gpt-5-mini", "text", most_tokens=4)

"""Token counts: exact where OpenAI's vocabularies apply, a cautious estimate for every other model."""

import re
from collections.abc import Sequence
from typing import Final

import toktok

# First match wins. Source: OpenAI's tiktoken model table, read 2026-11-30.
_ENCODINGS: Final = tuple(
    (re.compile(pattern), encoding)
    for pattern, encoding in (
        (r"gpt-oss", "o200k_harmony"),
        (r"gpt-4o|gpt-4\.1|gpt-4\.5|gpt-[5-9]|chatgpt-|o\d", "o200k_base"),
        (r"gpt-4|gpt-3\.5|gpt-35|text-embedding-", "cl100k_base"),
    )
)
_FINE_TUNED: Final = "ft:"

# One is poor at scripts other than Latin, the other takes every digit for itself.
_REFERENCES: Final = ("cl100k_base", "qwen3.5")
# What the families differ by on prose and code: the newest measured ones need up to 1.7 times as many.
_MARGIN: Final = 2
_ONE_SPACE: Final = bytes.maketrans(b"\t\n\v\f\r", b"     ")


class ToktokTokens:
    def count(self, model: str, texts: Sequence[str]) -> list[int]:
        encoding = _encoding(model)
        if encoding is not None:
            return _count(texts, encoding)
        counts = [_count(texts, reference) for reference in _REFERENCES]
        return [
            _cautious(text, max(found)) for text, found in zip(texts, zip(*counts, strict=True), strict=True)
        ]


def _encoding(model: str) -> str | None:
    name = model.lower().removeprefix(_FINE_TUNED)
    return next((encoding for pattern, encoding in _ENCODINGS if pattern.match(name)), None)


def _count(texts: Sequence[str], encoding: str) -> list[int]:
    try:
        return toktok.batch_count(texts, encoding, threads=1)
    except UnicodeEncodeError:
        return toktok.batch_count([_whole(text) for text in texts], encoding, threads=1)


def _whole(text: str) -> str:
    """Half surrogate pairs become three replacement characters each: no fewer tokens than they make."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _cautious(text: str, reference: int) -> int:
    """Twice what we know, runs in full; yet no vocabulary needs more than a token a byte."""
    content = text.encode("utf-8", "surrogatepass")
    return min(len(content), _MARGIN * reference + _repeats(content))


def _repeats(content: bytes) -> int:
    """Bytes that are like the one before, any white space like any other.

    OpenAI's vocabularies join long runs, others hardly do. One exclusive-or over the whole text: a loop
    over its characters would take longer than counting its tokens.
    """
    number = int.from_bytes(content.translate(_ONE_SPACE))
    return (number ^ (number >> 8)).to_bytes(len(content)).count(0)

"""The sentences of a text that say most: chosen, never invented, so that an answer means something.

A sentence counts for the frequent words it holds, for figures and amounts, and for standing at the start.
Deterministic, a fraction of a millisecond a text, in any language that ends its sentences with marks.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator

# Looking further would make a batch of long documents crawl, and the start of a text says what it is about.
MAX_CHARACTERS = 2500
MAX_SENTENCE = 400

# A pattern that starts with a set of characters is searched five times as fast as one that looks behind.
SENTENCE_END = re.compile(r"[.!?…\n][\"'»”)]*\s+")
WIDE_MARKS = ("。", "\uff01", "\uff1f")
BULLETS = ("\n- ", "\n* ", "\n• ")
WORD = re.compile(r"[^\W\d_]{4,}")
FIGURE = re.compile(r"\d")
AMOUNT = re.compile(r"[€$£%]|\b(?:EUR|USD|CHF|GBP)\b")


def sentences(text: str) -> list[str]:
    """The text's sentences without repeats, on one line each, overlong ones cut."""
    parts = (" ".join(part.split())[:MAX_SENTENCE] for part in _parts(text[:MAX_CHARACTERS]))
    return [part for part in dict.fromkeys(parts) if part]


def _parts(text: str) -> Iterator[str]:
    for mark in WIDE_MARKS:
        text = text.replace(mark, f"{mark}\n\n")
    for bullet in BULLETS:
        text = text.replace(bullet, f"\n{bullet}")
    start = 0
    for end in SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def summarize(text: str, *, limit: int = 2) -> str:
    """At most `limit` sentences of `text`, in its own order."""
    candidates = sentences(text)
    if len(candidates) <= limit:
        return " ".join(candidates)
    held = [words(candidate) for candidate in candidates]
    weights = Counter(word for found in held for word in found)
    scores = [_score(candidate, found, weights) for candidate, found in zip(candidates, held, strict=True)]
    scores[0] *= 1.5
    ranked = sorted(range(len(candidates)), key=scores.__getitem__, reverse=True)
    return " ".join(candidates[place] for place in sorted(ranked[:limit]))


def _score(sentence: str, found: list[str], weights: Counter[str]) -> float:
    if len(found) < 2:
        return 0.0
    # The square root keeps long sentences from winning by length alone.
    score: float = sum(map(weights.__getitem__, set(found))) / math.sqrt(len(found))
    if FIGURE.search(sentence):
        score *= 1.5 if AMOUNT.search(sentence) else 1.25
    return score


def keywords(text: str, *, limit: int = 5) -> list[str]:
    """The most frequent longer words, most frequent first."""
    found = Counter(word for word in words(text[:MAX_CHARACTERS]) if len(word) > 5)
    return [word for word, _ in found.most_common(limit)]

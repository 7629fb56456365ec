"""The sentences of a text that say most: chosen, never invented, so that an answer means something.

A sentence counts for the frequent words it holds, for figures and amounts, and for standing at the start.
Deterministic, about a tenth of a millisecond a text, in any language that ends its sentences with marks.
"""

import math
import re
from collections import Counter

# Looking further would make a batch of long documents crawl, and the start of a text says what it is about.
MAX_CHARACTERS = 4000
MAX_SENTENCE = 400

SENTENCE_END = re.compile(r"(?<=[.!?…。!?])[\"'»”)]*\s+|\n\s*\n|\n(?=[-*•#\d])|(?<=[。!?])")
WORD = re.compile(r"[^\W\d_]{4,}")
FIGURE = re.compile(r"\d")
AMOUNT = re.compile(r"[€$£%]|\b(?:EUR|USD|CHF|GBP)\b")


def sentences(text: str) -> list[str]:
    """The text's sentences without repeats, on one line each, overlong ones cut."""
    parts = (" ".join(part.split()) for part in SENTENCE_END.split(text[:MAX_CHARACTERS]) if part)
    return list(dict.fromkeys(part[:MAX_SENTENCE] for part in parts if part))


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def summarize(text: str, *, limit: int = 2) -> str:
    """At most `limit` sentences of `text`, in its own order."""
    candidates = sentences(text)
    if len(candidates) <= limit:
        return " ".join(candidates)
    weights = Counter(words(text[:MAX_CHARACTERS]))
    ranked = sorted(
        range(len(candidates)), key=lambda place: (-_score(candidates[place], place, weights), place)
    )
    return " ".join(candidates[place] for place in sorted(ranked[:limit]))


def _score(sentence: str, place: int, weights: Counter[str]) -> float:
    found = words(sentence)
    if len(found) < 2:
        return 0.0
    # The square root keeps long sentences from winning by length alone.
    score: float = sum(weights[word] for word in set(found)) / math.sqrt(len(found))
    if FIGURE.search(sentence):
        score *= 1.25
    if AMOUNT.search(sentence):
        score *= 1.25
    return score * (1.5 if place == 0 else 1.0)


def keywords(text: str, *, limit: int = 5) -> list[str]:
    """The most frequent longer words, most frequent first."""
    found = Counter(word for word in words(text[:MAX_CHARACTERS]) if len(word) > 5)
    return [word for word, _ in found.most_common(limit)]

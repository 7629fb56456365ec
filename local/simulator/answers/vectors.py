"""Embeddings without a model: hashed words, so that texts with words in common lie near each other."""

import math
from collections import Counter
from zlib import crc32

from local.simulator.answers.summary import MAX_CHARACTERS, words

DEFAULT_DIMENSIONS = 1536


def embed(text: str, dimensions: int) -> tuple[float, ...]:
    """A vector of length 1; the same text always has the same one."""
    vector = [0.0] * dimensions
    for word, times in Counter(words(text[:MAX_CHARACTERS])).items():
        place = crc32(word.encode())
        vector[place % dimensions] += times if place & 0x80000000 else -times
    if not any(vector):
        vector[crc32(text.encode("utf-8", "surrogatepass")) % dimensions] = 1.0
    length = math.sqrt(sum(value * value for value in vector))
    return tuple(round(value / length, 6) for value in vector)

"""Where the lines of an input file are, so that any of them can be read without reading the others."""

import os
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class LineIndex:
    """Start and length of each line that is not blank: 12 bytes a line, whatever its size."""

    starts: "array[int]" = field(default_factory=lambda: array("Q"))
    lengths: "array[int]" = field(default_factory=lambda: array("L"))

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, length: int) -> None:
        self.starts.append(start)
        self.lengths.append(length)

    def shuffled(self, seed: str) -> "array[int]":
        """The lines' places in an order that only depends on the seed."""
        order = array("L", range(len(self)))
        Random(seed).shuffle(order)
        return order


def scan(path: Path) -> Iterator[tuple[int, int, int, bytes]]:
    """Number (from 1, blank lines counted), start, length and bytes of every line that is not blank."""
    start = 0
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if not raw.isspace():
                yield number, start, len(raw), raw
            start += len(raw)


def index(path: Path) -> LineIndex:
    lines = LineIndex()
    for _, start, length, _ in scan(path):
        lines.add(start, length)
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class LineReader:
    """Random access to the lines of an open file."""

    descriptor: int
    lines: LineIndex

    def read(self, place: int) -> bytes:
        return os.pread(self.descriptor, self.lines.lengths[place], self.lines.starts[place])


@contextmanager
def reading(path: Path, lines: LineIndex) -> Iterator[LineReader]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield LineReader(descriptor=descriptor, lines=lines)
    finally:
        os.close(descriptor)

"""JSONL as bytes: split on b"\\n" and nothing else, numbered, in bounded memory."""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Final

import msgspec

# Physical line number from 1, and the content without line end, BOM and outer blanks.
# None stands for a line that is longer than the bound.
type Line = tuple[int, bytes | None]

BOM: Final = b"\xef\xbb\xbf"
_BLANKS: Final = b" \t\r"

# What is split at once: a piece of tiny lines may not become a hundred times its size in small objects.
_SLICE: Final = 256 * 1024


class Splitter:
    """Takes pieces of bytes, gives lines. The result does not depend on where the pieces were cut.

    Blank lines are left out but counted. A line above `max_line_bytes` (without line end and BOM) is given
    as None, and its bytes are dropped as they come.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max = max_line_bytes
        # More than this in one line is too much even if it begins with a BOM and ends with CR.
        self._hopeless = max_line_bytes + len(BOM) + 1
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._number = 1

    def feed(self, piece: bytes) -> list[Line]:
        """The lines that end in this piece. At most 256 KiB a call keep memory low; any size works."""
        first, *others = piece.split(b"\n")
        self._hold(first)
        if not others:
            return []
        last = others.pop()
        lines = self._end_of_held_line()
        lines += self._whole_lines(others)
        self._hold(last)
        return lines

    def finish(self) -> list[Line]:
        """The last line, if it had no line end."""
        return self._end_of_held_line() if self._rest_size else []

    def _hold(self, part: bytes) -> None:
        if not part:
            return
        self._rest_size += len(part)
        if self._rest_size > self._hopeless:
            self._rest.clear()
        else:
            self._rest.append(part)

    def _end_of_held_line(self) -> list[Line]:
        number, raw, size = self._number, b"".join(self._rest), self._rest_size
        self._number += 1
        self._rest.clear()
        self._rest_size = 0
        if size > self._hopeless:
            return [(number, None)]
        return self._checked(number, raw.removeprefix(BOM) if number == 1 else raw)

    def _whole_lines(self, parts: list[bytes]) -> list[Line]:
        first = self._number
        self._number += len(parts)
        if max(map(len, parts), default=0) > self._max:
            return [line for n, part in enumerate(parts, first) for line in self._checked(n, part)]
        return [(n, text) for n, part in enumerate(parts, first) if (text := part.strip(_BLANKS))]

    def _checked(self, number: int, raw: bytes) -> list[Line]:
        if len(raw.removesuffix(b"\r")) > self._max:
            return [(number, None)]
        text = raw.strip(_BLANKS)
        return [(number, text)] if text else []


def join(elements: Iterable[bytes | msgspec.Raw]) -> Iterator[bytes]:
    """Well-formed JSON values as lines, one a value, line end included."""
    for element in elements:
        # Inside a JSON string no raw line end can be: what is replaced is white space.
        yield bytes(element).replace(b"\n", b" ") + b"\n"


async def split(pieces: AsyncIterable[bytes], *, max_line_bytes: int) -> AsyncIterator[list[Line]]:
    """The lines of a stream, in lists as they come; no list is empty."""
    splitter = Splitter(max_line_bytes)
    async for piece in pieces:
        for start in range(0, len(piece), _SLICE):
            if lines := splitter.feed(piece[start : start + _SLICE]):
                yield lines
    if lines := splitter.finish():
        yield lines

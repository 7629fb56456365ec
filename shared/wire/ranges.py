"""`Range` of a download, as RFC 9110 (14.2) has it: one range of bytes; whatever else is asked gets it all."""

import re
from dataclasses import dataclass
from typing import Final

from shared.wire.problems import Refused

# Longer numbers than any file of ours needs are no numbers.
_RANGE: Final = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


class Unsatisfiable(Refused):
    """Nothing of the file lies in the range. `size` is the file's."""

    status = 416
    code = "invalid_range"
    title = "The range lies behind the end"

    def __init__(self, size: int) -> None:
        super().__init__(f"the file has {size} bytes, and none of them is in the range")
        self.size = size


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`length` bytes from `offset` on, of `size` altogether. `partial`: a range was asked for."""

    offset: int
    length: int
    size: int
    partial: bool = False

    @property
    def content_range(self) -> str:
        return f"bytes {self.offset}-{self.offset + self.length - 1}/{self.size}"


def part_of(size: int, asked: str | None, *, if_range: str | None, etag: str) -> Part:
    """What a `Range` header asks for. Raise `Unsatisfiable`. `if_range`: only of this very version."""
    whole = Part(offset=0, length=size, size=size)
    found = _RANGE.fullmatch(asked.strip()) if asked is not None and asked.isascii() else None
    if found is None or found.group() == "bytes=-" or (if_range is not None and if_range != etag):
        return whole
    first, last = _bounds(found[1], found[2], size)
    if found[1] and found[2] and int(found[2]) < int(found[1]):
        return whole  # no range at all
    if first >= size or first > last:
        raise Unsatisfiable(size)
    return Part(offset=first, length=last - first + 1, size=size, partial=True)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """The first and the last byte, counted from 0."""
    if not first:
        return max(size - int(last), 0), size - 1 if int(last) else -1
    return int(first), min(int(last), size - 1) if last else size - 1

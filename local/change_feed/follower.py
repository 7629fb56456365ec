"""Follows a log that is cut from time to time: copied to `NAME.1` and begun anew."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

_LOOK_SECONDS = 0.02
_READ_BYTES = 1_000_000
_HEAD_BYTES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where reading goes on: `offset` in the file that begins like `head`, the `generation`th of its name.

    `head` is empty as long as nothing was read.
    """

    generation: int = 0
    offset: int = 0
    head: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`begins` orders lines over all generations; `after` is where reading goes on behind it."""

    text: bytes
    begins: Position
    after: Position


class LogFollower:
    """Only whole lines. A log that was cut twice while nobody read has lost what was between."""

    def __init__(self, log: Path, position: Position) -> None:
        self._log = log
        self._previous = log.with_name(f"{log.name}.1")
        self._position = position

    async def lines(self) -> AsyncIterator[Line]:
        """For ever."""
        while True:
            found = self.read()
            for line in found:
                yield line
            if not found:
                await asyncio.sleep(_LOOK_SECONDS)

    def read(self) -> list[Line]:
        """The next lines; empty when there are none yet."""
        if not self._log.exists():
            return []
        if self._was_cut():
            rest = self._read_from(self._previous) if self._continues(self._previous) else []
            if not rest:
                self._position = Position(generation=self._position.generation + 1)
            return rest or self._read_from(self._log)
        return self._read_from(self._log)

    def _was_cut(self) -> bool:
        return self._position.offset > 0 and not self._continues(self._log)

    def _continues(self, file: Path) -> bool:
        """Whether `file` is the one of our position."""
        if not file.exists() or file.stat().st_size < self._position.offset:
            return False
        return _head(file, self._position.offset) == self._position.head

    def _read_from(self, file: Path) -> list[Line]:
        with file.open("rb") as log:
            log.seek(self._position.offset)
            whole, _, _ = log.read(_READ_BYTES).rpartition(b"\n")
        lines = []
        for text in whole.split(b"\n") if whole else []:
            begins = self._position
            offset = begins.offset + len(text) + 1
            # The head's length must not depend on how much of the file was there when it was first seen.
            head = begins.head if begins.offset >= _HEAD_BYTES else _head(file, offset)
            self._position = replace(begins, offset=offset, head=head)
            lines.append(Line(text=text, begins=begins, after=self._position))
        return lines


def _head(file: Path, offset: int) -> str:
    with file.open("rb") as log:
        return hashlib.sha256(log.read(min(_HEAD_BYTES, offset))).hexdigest()

"""How far the log is dealt with: everything before is delivered. Kept in a file."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

import msgspec

from local.change_feed.follower import Line, Position


class Step:
    """One line that is being dealt with."""

    def __init__(self, after: Position) -> None:
        self.after = after
        self.done = False


class Progress:
    """Lines are begun in order and finished in any. After a crash the unfinished ones are read again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._steps: deque[Step] = deque()
        self.position = _read(file)
        self._saved = self.position

    def begin(self, line: Line) -> Step:
        step = Step(line.after)
        self._steps.append(step)
        return step

    def finish(self, step: Step) -> None:
        step.done = True
        while self._steps and self._steps[0].done:
            self.position = self._steps.popleft().after

    def save(self) -> None:
        if self.position == self._saved:
            return
        draft = self._file.with_suffix(".draft")
        draft.write_bytes(msgspec.json.encode(self.position))
        os.replace(draft, self._file)
        self._saved = self.position


def _read(file: Path) -> Position:
    if not file.exists():
        return Position()
    return msgspec.json.decode(file.read_bytes(), type=Position)

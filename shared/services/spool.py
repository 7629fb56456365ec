"""Lines on local disk, read back in any order."""

import os
import tempfile
from array import array
from types import TracebackType
from typing import IO, Self


class Spool:
    """One line a place, the last one written counts. The file is gone when the context is left."""

    def __init__(self, places: int = 0) -> None:
        self._offsets = array("Q", bytes(8 * places))
        self._lengths = array("L", bytes(array("L").itemsize * places))
        self._end = 0
        self._flushed = True
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(prefix="postern-spool-", buffering=1024 * 1024)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file:
            self._file.close()

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, content: bytes) -> int:
        """Put a line at a new place; which one."""
        self._offsets.append(0)
        self._lengths.append(0)
        self.put(len(self._offsets) - 1, content)
        return len(self._offsets) - 1

    def put(self, place: int, content: bytes) -> None:
        self._opened.write(content)
        self._flushed = False
        self._offsets[place], self._lengths[place] = self._end, len(content)
        self._end += len(content)

    def get(self, place: int) -> bytes:
        """Empty when nothing was put there."""
        if not self._flushed:
            self._opened.flush()
            self._flushed = True
        # Not through the buffer: it would read a megabyte for every line.
        return os.pread(self._opened.fileno(), self._lengths[place], self._offsets[place])

    @property
    def _opened(self) -> IO[bytes]:
        if self._file is None:
            raise RuntimeError("a spool is used as a context manager")
        return self._file

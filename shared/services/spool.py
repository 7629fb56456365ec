"""Lines on local disk, read back in any order."""

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
        self._offsets[place], self._lengths[place] = self._end, len(content)
        self._end += len(content)

    def get(self, place: int) -> bytes:
        """Empty when nothing was put there. Reading begins when all writing is done."""
        self._opened.seek(self._offsets[place])
        return self._opened.read(self._lengths[place])

    @property
    def _opened(self) -> IO[bytes]:
        if self._file is None:
            raise RuntimeError("a spool is used as a context manager")
        return self._file

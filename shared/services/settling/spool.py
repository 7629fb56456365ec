"""Lines on local disk, read back in any order."""

import tempfile
from array import array
from types import TracebackType
from typing import IO, Self


class Spool:
    """One line a place, the last one written counts. The file is gone when the context is left."""

    def __init__(self, places: int) -> None:
        self._offsets = array("Q", bytes(8 * places))
        self._lengths = array("L", bytes(array("L").itemsize * places))
        self._end = 0
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(prefix="postern-spool-", buffering=1024 * 1024)  # noqa: SIM115
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file:
            self._file.close()

    def put(self, place: int, content: bytes) -> None:
        if self._file is None:
            raise RuntimeError("a spool is used as a context manager")
        self._file.write(content)
        self._offsets[place], self._lengths[place] = self._end, len(content)
        self._end += len(content)

    def get(self, place: int) -> bytes:
        """Empty when nothing was put there. Reading begins when all writing is done."""
        if self._file is None:
            raise RuntimeError("a spool is used as a context manager")
        self._file.seek(self._offsets[place])
        return self._file.read(self._lengths[place])

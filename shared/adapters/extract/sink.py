"""Where a reader puts its text: a file with a bound, written piece by piece."""

from io import FileIO
from typing import Self

from shared.adapters.extract.decode import tidy
from shared.adapters.extract.refusal import too_large


class TextSink:
    """Takes text in pieces and keeps at most `max_bytes` of it, counted in UTF-8; more is refused."""

    def __init__(self, file: FileIO, *, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._written = 0
        self.has_text = False

    @classmethod
    def to(cls, path: str, *, max_bytes: int) -> Self:
        """A sink into the new file `path`."""
        return cls(FileIO(path, "x"), max_bytes=max_bytes)

    def write(self, text: str) -> bool:
        """Add `text`; True when any of it is visible."""
        # Some readers hand out half of a surrogate pair, which has no UTF-8.
        data = tidy(text).encode("utf-8", "replace")
        self._written += len(data)
        if self._written > self._max_bytes:
            raise too_large(f"The document holds more than {self._max_bytes:,} bytes of text.")
        self._file.write(data)
        is_visible = not text.isspace() and bool(text.strip("\0"))
        self.has_text = self.has_text or is_visible
        return is_visible

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

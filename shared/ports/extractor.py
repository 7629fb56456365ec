"""Port: the text of a document."""

from pathlib import Path
from typing import Protocol

from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable


class Extractor(Protocol):
    """Turns files into text. One per process; safe to call from many tasks at once."""

    @property
    def limits(self) -> ExtractionLimits:
        """Bounds a caller keeps to before it calls: a larger source is `too_large` unread."""
        ...

    async def extract(self, source: Path, *, name: str, content_type: str | None) -> Extraction | Unreadable:
        """The text of the local file `source`, or why there is none.

        The kind of document is decided by its content; `name` (the blob's, not the temporary file's) and
        then `content_type` only speak where content has no signature. The same bytes and name give the
        same answer. The file is not changed, and no longer needed afterwards. A document that breaks its
        reader disturbs no other call; cancelling ends the work at once.

        Raises `ExtractorUnavailable` when no reader can be run, and `OSError` when `source` cannot be
        opened: neither says anything about the document.
        """
        ...

    async def close(self) -> None:
        """End every process the extractor started. Calls in flight fail; a second close does nothing."""
        ...

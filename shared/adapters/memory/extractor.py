"""An extractor without processes: UTF-8 text as it is, and agreed answers for names that need a parser."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable, UnreadableReason


class MemoryExtractor:
    """Reads UTF-8 text files; a document in `answers` (by its name) gets that answer, whatever it holds."""

    def __init__(
        self,
        *,
        answers: Mapping[str, Extraction | Unreadable] | None = None,
        limits: ExtractionLimits | None = None,
    ) -> None:
        self.answers = dict(answers or {})
        self._limits = limits or ExtractionLimits()

    def set_limits(self, limits: ExtractionLimits) -> None:
        """Hold the documents that follow to other bounds."""
        self._limits = limits

    @property
    def limits(self) -> ExtractionLimits:
        """The bounds every document is held to."""
        return self._limits

    async def extract(self, source: Path, *, name: str, content_type: str | None) -> Extraction | Unreadable:
        """The agreed answer for `name`, else the text of `source`; see the port."""
        data = await asyncio.to_thread(source.read_bytes)
        if name in self.answers:
            return self.answers[name]
        if len(data) > min(self._limits.max_source_bytes, self._limits.max_text_bytes):
            return Unreadable(reason=UnreadableReason.TOO_LARGE, message="The file is too large.")
        return _read(data, name)

    async def close(self) -> None:
        """There is nothing to end."""


def _read(data: bytes, name: str) -> Extraction | Unreadable:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Unreadable(reason=UnreadableReason.UNSUPPORTED_TYPE, message="The file is not UTF-8 text.")
    text = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return Unreadable(reason=UnreadableReason.EMPTY, message="The file is empty.")
    return Extraction(text=text, media_type="text/markdown" if name.endswith(".md") else "text/plain")

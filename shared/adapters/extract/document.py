"""The one document a child process reads, and what a reader reports beside the text."""

from dataclasses import dataclass
from pathlib import Path

from shared.adapters.extract.limits import ChildLimits
from shared.adapters.extract.media import Kind
from shared.domain.extraction import ExtractionLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file in the hands of a reader."""

    source: Path
    kind: Kind
    content_type: str | None
    limits: ExtractionLimits
    child_limits: ChildLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """How many pages there are, and which of them (from 1) have no text."""

    count: int
    without_text: tuple[int, ...]

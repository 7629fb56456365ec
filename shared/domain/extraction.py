"""What comes out of a document: its text, or the reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum

from shared.domain.errors import TryAgainLater


class UnreadableReason(StrEnum):
    """Why a document gives no text; the values are part of the contract."""

    ENCRYPTED = "encrypted"
    NO_TEXT = "no_text"
    CORRUPT = "corrupt"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    UNSUPPORTED_TYPE = "unsupported_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The text of one document.

    `text` is never blank, holds no NUL and ends its lines with a line feed. `pages` is known for paged
    formats only; `pages_without_text` counts from 1, in ascending order.
    """

    text: str
    media_type: str
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A final answer about a document that cannot be read: reading it again gives the same.

    `message` is one sentence for the person who dropped it, without any of the document's content.
    """

    reason: UnreadableReason
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionLimits:
    """What one document may cost. Callers stop a download at `max_source_bytes`."""

    max_source_bytes: int = 128 * 2**20
    max_text_bytes: int = 16 * 2**20
    max_pages: int = 5_000


class ExtractorUnavailable(TryAgainLater):
    """The extractor itself failed, not the document: try the same document again later."""

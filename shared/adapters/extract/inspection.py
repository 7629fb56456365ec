"""What can be said about a file without a parser: too large, empty, an image, or plain UTF-8 text.

Runs in the app's own process, so it reads a bounded number of bytes and decodes, nothing more.
"""

from pathlib import Path
from typing import BinaryIO

from shared.adapters.extract.decode import decode, tidy
from shared.adapters.extract.media import HEAD_BYTES, Family, Kind, classify
from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable, UnreadableReason

# Above this, decoding would hold up the other work of the process; a child does it.
_MAX_INLINE_BYTES = 4 * 2**20
# No encoding in use spends more bytes on a character than this many times what UTF-8 does.
_MAX_BYTES_PER_UTF8_BYTE = 4
_MAX_BYTES_PER_CHARACTER = 4


def inspect(
    source: Path, *, name: str, content_type: str | None, limits: ExtractionLimits
) -> Extraction | Unreadable | Kind:
    """The answer for `source`, or the kind of document a child has to read."""
    with source.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        head = file.read(HEAD_BYTES)
        if refused := _by_size(size, limits):
            return refused
        kind = classify(head, name=name, content_type=content_type)
        if refused := _by_kind(kind, size, limits):
            return refused
        if kind.family is Family.TEXT and size <= _MAX_INLINE_BYTES:
            return _read_text(file, head, kind, content_type, limits) or kind
    return kind


def _by_size(size: int, limits: ExtractionLimits) -> Unreadable | None:
    if size == 0:
        return Unreadable(reason=UnreadableReason.EMPTY, message="The file is empty: it has 0 bytes.")
    if size > limits.max_source_bytes:
        message = f"The file has {size:,} bytes, more than the {limits.max_source_bytes:,} that are read."
        return Unreadable(reason=UnreadableReason.TOO_LARGE, message=message)
    return None


def _by_kind(kind: Kind, size: int, limits: ExtractionLimits) -> Unreadable | None:
    match kind.family:
        case Family.IMAGE:
            message = "The file is an image without text; run text recognition (OCR) and drop the result."
            return Unreadable(reason=UnreadableReason.NO_TEXT, message=message)
        case Family.FOREIGN:
            message = f"Files of the type {kind.media_type} are not read."
            return Unreadable(reason=UnreadableReason.UNSUPPORTED_TYPE, message=message)
        case Family.MISNAMED:
            message = (
                f"The file claims to be {kind.media_type}, but its content is something else or damaged."
            )
            return Unreadable(reason=UnreadableReason.CORRUPT, message=message)
        case Family.TEXT if size > _MAX_BYTES_PER_UTF8_BYTE * limits.max_text_bytes:
            return _too_much_text(limits)
        case _:
            return None


def _read_text(
    file: BinaryIO, head: bytes, kind: Kind, content_type: str | None, limits: ExtractionLimits
) -> Extraction | Unreadable | None:
    """The text where its encoding is certain; None where a child has to guess it."""
    text = decode(head + file.read(), content_type=content_type)
    if text is None:
        return None
    text = tidy(text)
    if not text or text.isspace():
        return Unreadable(reason=UnreadableReason.EMPTY, message="The file holds white space only.")
    # Counted only where it could matter: encoding once more is a tenth of the work.
    may_exceed = _MAX_BYTES_PER_CHARACTER * len(text) > limits.max_text_bytes
    if may_exceed and len(text.encode()) > limits.max_text_bytes:
        return _too_much_text(limits)
    return Extraction(text=text, media_type=kind.media_type)


def _too_much_text(limits: ExtractionLimits) -> Unreadable:
    message = f"The document holds more than {limits.max_text_bytes:,} bytes of text."
    return Unreadable(reason=UnreadableReason.TOO_LARGE, message=message)

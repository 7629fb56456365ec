"""Plain text in any encoding."""

from charset_normalizer import from_bytes

from shared.adapters.extract import refusal
from shared.adapters.extract.decode import decode
from shared.adapters.extract.document import Document
from shared.adapters.extract.sink import TextSink


def read_text(document: Document, sink: TextSink) -> None:
    """Write the file as it is, decoded."""
    text = guess_text(document.source.read_bytes(), document.content_type)
    if text is None:
        raise refusal.unsupported(
            "The file is neither a known kind of document nor text in a known encoding."
        )
    sink.write(text)
    if not sink.has_text:
        raise refusal.empty("file")


def guess_text(data: bytes, content_type: str | None) -> str | None:
    """The text of `data`, by its statistics where nothing else tells the encoding; None for noise."""
    if (certain := decode(data, content_type=content_type)) is not None:
        return certain
    best = from_bytes(data).best()
    return None if best is None else str(best)

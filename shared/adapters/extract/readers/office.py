"""Office documents and presentations, modern and old, as Markdown by anydoc."""

from anydoc import (
    ConvertError,
    EncryptedError,
    Format,
    ResourceLimitError,
    UnsupportedError,
    to_markdown_bytes,
)

from shared.adapters.extract import refusal
from shared.adapters.extract.document import Document
from shared.adapters.extract.sink import TextSink


def read_office(document: Document, sink: TextSink, *, format_: Format) -> None:
    """Write the document as Markdown. Headers, footers and comments are left out."""
    sink.write(markdown(document.source.read_bytes(), format_))


def markdown(data: bytes, format_: Format) -> str:
    """`data` as Markdown; anydoc's errors in our words."""
    what = f"{format_.upper()} document"
    try:
        return to_markdown_bytes(data, format_)
    except EncryptedError as error:
        raise refusal.encrypted(what) from error
    except ResourceLimitError as error:
        raise refusal.too_large(f"The {what} is larger or deeper than a reader may unfold.") from error
    except UnsupportedError as error:
        raise refusal.unsupported(f"This variant of a {what} cannot be read.") from error
    except ConvertError as error:
        raise refusal.corrupt(what) from error

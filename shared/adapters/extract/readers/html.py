"""Web pages: the main content, or all visible text where there is no telling it apart."""

from codecs import BOM_UTF8

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.html import HTMLTree

from shared.adapters.extract import refusal
from shared.adapters.extract.decode import decode
from shared.adapters.extract.document import Document
from shared.adapters.extract.sink import TextSink

# Below this share of the visible text, what was found is a fragment and not the main content.
_MAIN_CONTENT_SHARE = 0.25

# Browsers look for a page's declared encoding in so many bytes, and so do its authors.
_DECLARATION_BYTES = 1_024


def read_main_content(document: Document, sink: TextSink) -> None:
    """Write the page without its navigation and footers."""
    tree = _parse(document)
    everything = visible_text(tree)
    main = extract_plain_text(tree, preserve_formatting=True, main_content=True)
    _write(everything if len(main) < _MAIN_CONTENT_SHARE * len(everything) else main, sink)


def read_visible_text(document: Document, sink: TextSink) -> None:
    """Write all visible text: in linear time, whatever the page."""
    _write(visible_text(_parse(document)), sink)


def visible_text(html: str | HTMLTree) -> str:
    """All text of `html` that a browser would show, by lines."""
    return extract_plain_text(html, preserve_formatting=True)


def _parse(document: Document) -> HTMLTree:
    data = document.source.read_bytes()
    # The page's word comes before UTF-8: text in a seven-bit encoding is valid UTF-8 and reads as noise.
    if b"charset" in data[:_DECLARATION_BYTES].lower() and not data.startswith(BOM_UTF8):
        return HTMLTree.parse_from_bytes(data, _encoding(data), "replace")
    if (text := decode(data, content_type=document.content_type)) is not None:
        return HTMLTree.parse(text)
    return HTMLTree.parse_from_bytes(data, _encoding(data), "replace")


def _encoding(data: bytes) -> str:
    return detect_encoding(data, from_html_meta=True) or "utf-8"


def _write(text: str, sink: TextSink) -> None:
    if not text.strip():
        raise refusal.no_text("The web page shows no text.")
    sink.write(text)

"""PDF: PDFium, which is fast, and pypdf, which bounds itself and reads what makes PDFium run away."""

import re
from collections.abc import Iterable, Iterator

from pypdf import PdfReader
from pypdf.errors import FileNotDecryptedError, LimitReachedError, PyPdfError
from pypdfium2 import PdfDocument, PdfiumError  # type: ignore[import-untyped]  # has no hints
from pypdfium2.raw import FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY  # type: ignore[import-untyped]  # likewise

from shared.adapters.extract import refusal
from shared.adapters.extract.document import Document, Pages
from shared.adapters.extract.sink import TextSink

# So PDFium marks a hyphen at the end of a line, where nothing tells a broken word from a compound.
_BROKEN_WORD = re.compile("[\x02\ufffe](?:\r?\n)?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_with_pdfium(document: Document, sink: TextSink) -> Pages:
    """The text of each page in reading order as PDFium finds it."""
    try:
        pdf = PdfDocument(document.source)
    except PdfiumError as error:
        if error.err_code in {FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY}:
            raise refusal.encrypted("PDF") from error
        raise refusal.corrupt("PDF") from error
    _check_page_count(len(pdf), document)
    return _write_pages(_pdfium_pages(pdf), sink)


def read_with_pypdf(document: Document, sink: TextSink) -> Pages:
    """The same with pypdf; several times slower."""
    try:
        pdf = PdfReader(document.source, strict=False)
        if pdf.is_encrypted and not pdf.decrypt(""):
            raise refusal.encrypted("PDF")
        _check_page_count(len(pdf.pages), document)
        return _write_pages((page.extract_text() for page in pdf.pages), sink)
    except LimitReachedError as error:
        raise refusal.too_large("A page of the PDF unfolds to more data than a reader may hold.") from error
    except FileNotDecryptedError as error:
        raise refusal.encrypted("PDF") from error
    except PyPdfError as error:
        raise refusal.corrupt("PDF") from error


def _pdfium_pages(pdf: PdfDocument) -> Iterator[str]:
    for number in range(len(pdf)):
        try:
            yield _pdfium_text(pdf, number)
        except PdfiumError:
            # One broken page does not take the others with it; it is reported as a page without text.
            yield ""


def _pdfium_text(pdf: PdfDocument, number: int) -> str:
    page = pdf[number]
    try:
        text_page = page.get_textpage()
        try:
            return str(text_page.get_text_range(errors="replace"))
        finally:
            text_page.close()
    finally:
        # Closed page by page: PDFium keeps what a page has loaded for as long as the page is open.
        page.close()


def _check_page_count(count: int, document: Document) -> None:
    if count == 0:
        raise refusal.empty("PDF")
    if count > document.limits.max_pages:
        raise refusal.too_large(f"The PDF has {count:,} pages, more than {document.limits.max_pages:,}.")


def _write_pages(texts: Iterable[str], sink: TextSink) -> Pages:
    """Write `texts` with an empty line between pages."""
    blank, number = [], 0
    for number, text in enumerate(texts, start=1):
        clean = _CONTROL.sub("", _BROKEN_WORD.sub("", text)).strip()
        separator = "\n\n" if sink.has_text else ""
        if not (clean and sink.write(separator + clean)):
            blank.append(number)
    if len(blank) == number:
        raise refusal.no_text(_without_text(number))
    return Pages(count=number, without_text=tuple(blank))


def _without_text(count: int) -> str:
    subject = (
        "The only page of the PDF is an image" if count == 1 else f"All {count:,} pages of the PDF are images"
    )
    return f"{subject} or blank, without a text layer; run text recognition (OCR) and drop the result."

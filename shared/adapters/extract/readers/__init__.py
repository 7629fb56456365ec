"""Who reads what. Imported by the fork server and its children only: these libraries can crash."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from anydoc import Format, format_from_bytes

from shared.adapters.extract import media, refusal
from shared.adapters.extract.document import Document, Pages
from shared.adapters.extract.package import Package, inspect
from shared.adapters.extract.readers.html import read_main_content, read_visible_text
from shared.adapters.extract.readers.mail import read_mail
from shared.adapters.extract.readers.office import read_office
from shared.adapters.extract.readers.pdf import read_with_pdfium, read_with_pypdf
from shared.adapters.extract.readers.sheet_stream import read_streaming
from shared.adapters.extract.readers.sheets import read_old_workbook, read_workbook
from shared.adapters.extract.readers.text import read_text
from shared.adapters.extract.sink import TextSink

type Reader = Callable[[Document, TextSink], Pages | None]

_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What a document turned out to be, and who reads it."""

    media_type: str
    reader: Reader
    share_of_time: float = 1


def choose(document: Document, *, is_second: bool) -> Choice:
    """The reader for `document`; the second one where asked and where there is one."""
    match document.kind.family:
        case media.Family.PDF:
            return Choice(media_type=media.PDF, reader=read_with_pypdf if is_second else read_with_pdfium)
        case media.Family.HTML:
            return _choose_for_html(is_second=is_second)
        case media.Family.MAIL:
            return Choice(media_type=media.MAIL, reader=read_mail)
        case media.Family.RTF:
            return Choice(media_type=media.RTF, reader=_office("rtf", has_pictures=False))
        case media.Family.PACKAGE:
            return _choose_for_package(inspect(document.source, document.child_limits), is_second=is_second)
        case media.Family.COMPOUND:
            return _choose_for_compound(document.source.read_bytes())
        case _:
            return Choice(media_type=document.kind.media_type, reader=read_text)


def _choose_for_html(*, is_second: bool) -> Choice:
    if is_second:
        return Choice(media_type=media.HTML, reader=read_visible_text)
    # Quadratic in the depth of the page; where it is not done soon it never will be.
    return Choice(media_type=media.HTML, reader=read_main_content, share_of_time=0.25)


def _choose_for_package(package: Package, *, is_second: bool) -> Choice:
    media_type = _package_type(package)
    match media_type:
        case media.XLSX:
            return Choice(media_type=media_type, reader=read_streaming if is_second else read_workbook)
        case media.XLSB | media.ODS:
            return Choice(media_type=media_type, reader=read_workbook)
        case media.DOCX | media.PPTX | media.ODT | media.ODP | media.EPUB:
            reader = _office(_OFFICE_FORMATS[media_type], has_pictures=package.has_pictures)
            return Choice(media_type=media_type, reader=reader)
        case _:
            raise refusal.unsupported("The archive is not a document; drop the files in it one by one.")


_OFFICE_FORMATS: dict[str, Format] = {
    media.DOCX: "docx",
    media.PPTX: "pptx",
    media.ODT: "odt",
    media.ODP: "odp",
    media.EPUB: "epub",
}


def _package_type(package: Package) -> str:
    if package.mimetype:
        return package.mimetype
    for mark, media_type in (
        ("word/", media.DOCX),
        ("ppt/", media.PPTX),
        ("xl/workbook.bin", media.XLSB),
        ("xl/", media.XLSX),
    ):
        if any(name.startswith(mark) for name in package.names):
            return media_type
    return "application/zip"


def _choose_for_compound(data: bytes) -> Choice:
    match format_from_bytes(data):
        case "doc":
            return Choice(media_type=media.DOC, reader=_office("doc", has_pictures=True))
        case "ppt":
            return Choice(media_type=media.PPT, reader=_office("ppt", has_pictures=True))
        case "xlsx":
            return Choice(media_type=media.XLS, reader=read_old_workbook)
        case _ if _ENCRYPTED_STREAM in data:
            raise refusal.encrypted("document")
        case _:
            raise refusal.unsupported(
                "The file is an OLE container, but no Word, Excel or PowerPoint document."
            )


def _office(format_: Format, *, has_pictures: bool) -> Reader:
    return partial(_read_office, format_=format_, has_pictures=has_pictures)


def _read_office(document: Document, sink: TextSink, *, format_: Format, has_pictures: bool) -> None:
    read_office(document, sink, format_=format_)
    if sink.has_text:
        return
    if has_pictures:
        raise refusal.no_text(
            "The document holds no text, at most pictures; run text recognition (OCR) and drop the result."
        )
    raise refusal.empty("document")

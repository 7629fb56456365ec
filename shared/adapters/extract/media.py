"""Which kind of document a file is: its content says so first, its name second, its declared type last.

Looks at the first bytes only and opens nothing, so it is safe outside the child process.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from types import MappingProxyType

HEAD_BYTES = 8_192

PDF = "application/pdf"
RTF = "application/rtf"
HTML = "text/html"
MAIL = "message/rfc822"
PLAIN = "text/plain"
DOC = "application/msword"
XLS = "application/vnd.ms-excel"
PPT = "application/vnd.ms-powerpoint"
_OOXML = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OOXML}wordprocessingml.document"
XLSX = f"{_OOXML}spreadsheetml.sheet"
PPTX = f"{_OOXML}presentationml.presentation"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
ODT = "application/vnd.oasis.opendocument.text"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODP = "application/vnd.oasis.opendocument.presentation"
EPUB = "application/epub+zip"


# Types with a reader of last resort, for files that break or outlast the first one.
WITH_SECOND_READER = frozenset({PDF, HTML, XLSX})


class Family(StrEnum):
    """How a file is opened."""

    TEXT = "text"
    HTML = "html"
    MAIL = "mail"
    PDF = "pdf"
    RTF = "rtf"
    PACKAGE = "package"  # a zip: modern office files
    COMPOUND = "compound"  # an OLE file: office files of before 2007, and encrypted modern ones
    IMAGE = "image"
    FOREIGN = "foreign"  # recognised, and not a document
    MISNAMED = "misnamed"  # the name promises a signature that the content does not have


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the first bytes, the name and the declared type say together."""

    family: Family
    media_type: str


_BY_EXTENSION = MappingProxyType(
    {
        ".txt": PLAIN, ".text": PLAIN, ".log": PLAIN,
        ".md": "text/markdown", ".markdown": "text/markdown",
        ".csv": "text/csv", ".tsv": "text/tab-separated-values",
        ".json": "application/json", ".jsonl": "application/x-ndjson", ".ndjson": "application/x-ndjson",
        ".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml",
        ".html": HTML, ".htm": HTML, ".xhtml": HTML,
        ".eml": MAIL, ".mht": MAIL, ".mhtml": MAIL,
        ".pdf": PDF, ".rtf": RTF,
        ".doc": DOC, ".xls": XLS, ".ppt": PPT,
        ".docx": DOCX, ".docm": DOCX, ".dotx": DOCX,
        ".xlsx": XLSX, ".xlsm": XLSX, ".xltx": XLSX, ".xlsb": XLSB,
        ".pptx": PPTX, ".pptm": PPTX, ".ppsx": PPTX,
        ".odt": ODT, ".ods": ODS, ".odp": ODP, ".epub": EPUB,
        ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
        ".tif": "image/tiff", ".tiff": "image/tiff", ".bmp": "image/bmp", ".webp": "image/webp",
        ".heic": "image/heic",
    }
)  # fmt: skip

# Programs that export "Excel" or "Word" files often write a table of text or HTML under the old name.
_OFTEN_TEXT = frozenset({DOC, XLS})
_SIGNED = (
    frozenset({PDF, RTF, PPT, DOCX, XLSX, XLSB, PPTX, ODT, ODS, ODP, EPUB})
    | frozenset(kind for kind in _BY_EXTENSION.values() if kind.startswith("image/"))
)  # fmt: skip
_TEXTUAL = frozenset({"application/json", "application/x-ndjson", "application/xml", "application/yaml"})

_SIGNATURES: tuple[tuple[bytes, Family, str], ...] = (
    (b"{\\rtf", Family.RTF, RTF),
    (b"PK\x03\x04", Family.PACKAGE, "application/zip"),
    (b"PK\x05\x06", Family.PACKAGE, "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Family.COMPOUND, "application/x-ole-storage"),
    (b"\x89PNG\r\n\x1a\n", Family.IMAGE, "image/png"),
    (b"\xff\xd8\xff", Family.IMAGE, "image/jpeg"),
    (b"GIF87a", Family.IMAGE, "image/gif"),
    (b"GIF89a", Family.IMAGE, "image/gif"),
    (b"II*\x00", Family.IMAGE, "image/tiff"),
    (b"MM\x00*", Family.IMAGE, "image/tiff"),
    (b"\x1f\x8b\x08", Family.FOREIGN, "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", Family.FOREIGN, "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", Family.FOREIGN, "application/vnd.rar"),
    (b"\x28\xb5\x2f\xfd", Family.FOREIGN, "application/zstd"),
    (b"\xfd7zXZ\x00", Family.FOREIGN, "application/x-xz"),
    (b"\x7fELF", Family.FOREIGN, "application/x-executable"),
    (b"\xca\xfe\xba\xbe", Family.FOREIGN, "application/java-vm"),
    (b"\xfe\xed\xfa\xce", Family.FOREIGN, "application/x-mach-binary"),
    (b"\xfe\xed\xfa\xcf", Family.FOREIGN, "application/x-mach-binary"),
    (b"\xce\xfa\xed\xfe", Family.FOREIGN, "application/x-mach-binary"),
    (b"\xcf\xfa\xed\xfe", Family.FOREIGN, "application/x-mach-binary"),
    (b"\0asm", Family.FOREIGN, "application/wasm"),
    (b"dex\n03", Family.FOREIGN, "application/vnd.android.dex"),
    (b"PK\x07\x08", Family.FOREIGN, "application/zip"),
    (b"BZh91AY&SY", Family.FOREIGN, "application/x-bzip2"),
    (b"\x1f\x9d", Family.FOREIGN, "application/x-compress"),
    (b"\x04\x22\x4d\x18", Family.FOREIGN, "application/x-lz4"),
    (b"LZIP\x01", Family.FOREIGN, "application/x-lzip"),
    (b"MSCF\0\0\0\0", Family.FOREIGN, "application/vnd.ms-cab-compressed"),
    (b"!<arch>\n", Family.FOREIGN, "application/x-archive"),
    (b"\xed\xab\xee\xdb", Family.FOREIGN, "application/x-rpm"),
    (b"SQLite format 3\x00", Family.FOREIGN, "application/vnd.sqlite3"),
    (b"PAR1\x15", Family.FOREIGN, "application/vnd.apache.parquet"),
    (b"ID3\x03\x00", Family.FOREIGN, "audio/mpeg"),
    (b"ID3\x04\x00", Family.FOREIGN, "audio/mpeg"),
    (b"OggS\x00", Family.FOREIGN, "audio/ogg"),
    (b"fLaC\x00", Family.FOREIGN, "audio/flac"),
    (b"\x1aE\xdf\xa3", Family.FOREIGN, "video/x-matroska"),
)

_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HEADER = re.compile(rb"([!-9;-~]{1,60}):[^\n]*\n(?:[ \t][^\n]*\n)*")
_MAIL_ONLY = frozenset({b"received", b"return-path", b"mime-version", b"message-id"})
_UTF8_BOM = b"\xef\xbb\xbf"


def classify(head: bytes, *, name: str, content_type: str | None) -> Kind:
    """The kind of a file of which `head` is the first `HEAD_BYTES` bytes."""
    named = _named_type(name, content_type)
    return _by_signature(head, named) or _by_markup(head) or _by_name(named)


def _by_signature(head: bytes, named: str | None) -> Kind | None:
    for signature, family, media_type in _SIGNATURES:
        if head.startswith(signature):
            return Kind(family=family, media_type=media_type)
    if _is_pdf(head, named):
        return Kind(family=Family.PDF, media_type=PDF)
    return _by_inner_signature(head)


def _is_pdf(head: bytes, named: str | None) -> bool:
    # Readers accept up to 1,024 bytes of junk before the mark; prose about PDF may quote the mark too.
    if head.removeprefix(_UTF8_BOM).lstrip().startswith(b"%PDF-"):
        return True
    return named == PDF and b"%PDF-" in head[:1_029]


def _by_inner_signature(head: bytes) -> Kind | None:
    """Formats whose mark is short or not at the very start."""
    if head[:4] == b"RIFF" and head[8:12] in {b"WEBP", b"WAVE", b"AVI "}:
        return _image_or_foreign(is_image=head[8:12] == b"WEBP", image="image/webp", other="video/x-msvideo")
    if head[4:8] == b"ftyp":
        is_image = head[8:12] in {b"heic", b"heix", b"mif1", b"avif"}
        return _image_or_foreign(is_image=is_image, image="image/heic", other="video/mp4")
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0":
        return Kind(family=Family.IMAGE, media_type="image/bmp")
    # Two letters may begin a text, too; no text has bytes like these among its first.
    if head[:2] == b"MZ" and _BINARY.search(head[:256]):
        return Kind(family=Family.FOREIGN, media_type="application/vnd.microsoft.portable-executable")
    if head[257:262] == b"ustar":
        return Kind(family=Family.FOREIGN, media_type="application/x-tar")
    return None


def _image_or_foreign(*, is_image: bool, image: str, other: str) -> Kind:
    if is_image:
        return Kind(family=Family.IMAGE, media_type=image)
    return Kind(family=Family.FOREIGN, media_type=other)


def _by_markup(head: bytes) -> Kind | None:
    text = head.removeprefix(_UTF8_BOM)
    if _HTML_START.match(text):
        return Kind(family=Family.HTML, media_type=HTML)
    if _is_mail(text):
        return Kind(family=Family.MAIL, media_type=MAIL)
    return None


def _is_mail(text: bytes) -> bool:
    """Headers from the first line on, a sender among them and one that only mail programs write."""
    names: set[bytes] = set()
    at = text.find(b"\n") + 1 if text.startswith(b"From ") else 0
    while header := _HEADER.match(text, at):
        names.add(header[1].lower())
        at = header.end()
    return b"from" in names and not names.isdisjoint(_MAIL_ONLY)


def _by_name(named: str | None) -> Kind:
    if named == HTML:
        return Kind(family=Family.HTML, media_type=HTML)
    if named == MAIL:
        return Kind(family=Family.MAIL, media_type=MAIL)
    if named in _SIGNED:
        return Kind(family=Family.MISNAMED, media_type=named)
    if named is None or named in _OFTEN_TEXT:
        return Kind(family=Family.TEXT, media_type=PLAIN)
    return Kind(family=Family.TEXT, media_type=named)


def _named_type(name: str, content_type: str | None) -> str | None:
    """The type that name or declaration promise, of those we know something about."""
    by_extension = _BY_EXTENSION.get(PurePosixPath(name).suffix.lower())
    if by_extension or not content_type:
        return by_extension
    declared = content_type.partition(";")[0].strip().lower()
    is_known = declared in _SIGNED or declared in _TEXTUAL or declared in _OFTEN_TEXT or declared == MAIL
    return declared if is_known or declared.startswith("text/") else None

"""PDF files, sound and hostile, written object by object."""

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def pdf(pages: Sequence[str | None]) -> bytes:
    """One page per entry with that line of text; None is a page that holds an image and nothing else."""
    return _file([_text_page(text) if text is not None else _IMAGE_PAGE for text in pages])


def encrypted_pdf(pages: Sequence[str | None], *, algorithm: str, user_password: str) -> bytes:
    """`algorithm` as pypdf names it: RC4-128, AES-128, AES-256. An empty `user_password` opens anywhere."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(pages))))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def unfolding_pdf(*, megabytes: int) -> bytes:
    """A page of a few kilobytes that unfolds to `megabytes` of text operators."""
    piece = b"(a line of text that is drawn again and again) Tj 0 -1 Td\n" * 1_000
    deflate = zlib.compressobj(9)
    packed = deflate.compress(b"BT /F1 12 Tf 50 700 Td\n")
    for _ in range(megabytes * 2**20 // len(piece)):
        packed += deflate.compress(piece)
    packed += deflate.compress(b"ET") + deflate.flush()
    return _file([(packed, b"/Filter /FlateDecode", _FONT)])


def self_drawing_pdf() -> bytes:
    """A page whose form draws itself twice: whoever follows it without a bound never ends."""
    form = b"q /Loop Do Q q /Loop Do Q"
    body = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length %d" % len(form)
    loop = body + b" /Resources << /XObject << /Loop 5 0 R >> >> >>\nstream\n" + form + b"\nendstream"
    page = b"BT /F1 12 Tf 50 700 Td (Text beside the loop) Tj ET /Loop Do"
    return _file([(page, b"", _FONT + b" /XObject << /Loop 5 0 R >>")], extra=[loop])


type _Page = tuple[bytes, bytes, bytes]

_FONT = b"/Font << /F1 3 0 R >>"
_IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    b" /Length 1 >>\nstream\n\x80\nendstream"
)
_IMAGE_PAGE: _Page = (b"q 500 0 0 700 50 50 cm /Im Do Q", b"", b"/XObject << /Im 4 0 R >>")


def _text_page(text: str) -> _Page:
    escaped = text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
    return b"BT /F1 12 Tf 50 700 Td (" + escaped + b") Tj ET", b"", _FONT


def _file(pages: Sequence[_Page], *, extra: Sequence[bytes] = ()) -> bytes:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    first = 5 + len(extra)
    kids = b" ".join(b"%d 0 R" % (first + 2 * n) for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(pages),
        font,
        _IMAGE,
        *extra,
    ]
    for number, (content, filters, resources) in enumerate(pages):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << %s >> >>"
            % (first + 2 * number + 1, resources)
        )
        objects.append(
            b"<< /Length %d " % len(content) + filters + b" >>\nstream\n" + content + b"\nendstream"
        )
    return _assemble(objects)


def _assemble(objects: Sequence[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)

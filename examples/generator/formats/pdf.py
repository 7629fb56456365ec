"""PDF files, written object by object."""

import io
import re
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter

# Content, filters and resources of a page.
type Page = tuple[bytes, bytes, bytes]

FONT = b"/Font << /F1 3 0 R >>"
_IMAGE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
    b" /Length 1 >>\nstream\n\x80\nendstream"
)
_IMAGE_PAGE: Page = (b"q 500 0 0 700 50 50 cm /Im Do Q", b"", b"/XObject << /Im 4 0 R >>")
_TRAILER_ID = re.compile(rb"/ID \[ (<\w+>) <\w+> \]")


def pdf(pages: Sequence[str | None]) -> bytes:
    """One page per entry with those lines of text; None is a page that holds an image and nothing else."""
    return pdf_of([_text_page(text) if text is not None else _IMAGE_PAGE for text in pages])


def encrypted_pdf(pages: Sequence[str | None], *, algorithm: str, user_password: str) -> bytes:
    """`algorithm` as pypdf names it: RC4-128, AES-128, AES-256. An empty `user_password` opens anywhere.

    With RC4 the same bytes every time.
    """
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(pages))))
    writer.encrypt(user_password=user_password, owner_password="owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    # The second of the two ids is drawn by lot, and nothing depends on it.
    return _TRAILER_ID.sub(rb"/ID [ \1 \1 ]", out.getvalue())


def pdf_of(pages: Sequence[Page], *, extra: Sequence[bytes] = ()) -> bytes:
    """A file of these pages. Object 3 is the font, 4 an image, and those of `extra` begin at 5."""
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


def _text_page(text: str) -> Page:
    lines = b" 0 -18 Td ".join(b"(" + _escaped(line) + b") Tj" for line in text.split("\n"))
    return b"BT /F1 12 Tf 50 700 Td " + lines + b" ET", b"", FONT


def _escaped(line: str) -> bytes:
    return line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _assemble(objects: Sequence[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    out += b"trailer\n<< /Size %d /Root 1 0 R /ID [<%s> <%s>] >>\n" % (size, _ID, _ID)
    out += b"startxref\n%d\n%%%%EOF\n" % start
    return bytes(out)


_ID = b"706f737465726e2073616d706c657321"

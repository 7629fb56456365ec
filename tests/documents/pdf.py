"""PDF files made to break or to outlast their readers."""

import zlib

from examples.generator.formats.pdf import FONT, pdf_of


def unfolding_pdf(*, megabytes: int) -> bytes:
    """A page of a few kilobytes that unfolds to `megabytes` of text operators."""
    piece = b"(a line of text that is drawn again and again) Tj 0 -1 Td\n" * 1_000
    deflate = zlib.compressobj(9)
    packed = deflate.compress(b"BT /F1 12 Tf 50 700 Td\n")
    for _ in range(megabytes * 2**20 // len(piece)):
        packed += deflate.compress(piece)
    packed += deflate.compress(b"ET") + deflate.flush()
    return pdf_of([(packed, b"/Filter /FlateDecode", FONT)])


def self_drawing_pdf() -> bytes:
    """A page whose form draws itself twice: whoever follows it without a bound never ends."""
    form = b"q /Loop Do Q q /Loop Do Q"
    body = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length %d" % len(form)
    loop = body + b" /Resources << /XObject << /Loop 5 0 R >> >> >>\nstream\n" + form + b"\nendstream"
    page = b"BT /F1 12 Tf 50 700 Td (Text beside the loop) Tj ET /Loop Do"
    return pdf_of([(page, b"", FONT + b" /XObject << /Loop 5 0 R >>")], extra=[loop])

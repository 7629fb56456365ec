"""The sample documents: by the path at which they are dropped, below `documents/`."""

import struct
import zlib
from collections.abc import Iterator
from random import Random

from examples.generator import document_texts as texts
from examples.generator.formats.mail import mail
from examples.generator.formats.office import docx, odt, package, pptx, unfolded, xls, xlsx
from examples.generator.formats.pdf import encrypted_pdf, pdf
from examples.generator.invoices import mail_of_a_supplier


def documents() -> Iterator[tuple[str, bytes]]:
    """Every document with its content, the same bytes every time."""
    yield from _notes()
    yield from _unreadable()
    yield from _inbox()
    yield from _invoices(Random("invoices of every kind"))
    yield from _leaflets()
    for name, text in texts.VOICES.items():
        yield f"support/voices/{name}", text.encode()
    yield "support/knowledge/handbook.md", texts.handbook().encode()
    yield "support/knowledge/questions and answers.html", texts.FAQ.encode()
    yield "support/note/meeting of the shops.txt", texts.MEETING.encode()


def _notes() -> Iterator[tuple[str, bytes]]:
    folder = "support/notes"
    # As an old editor on Windows writes it.
    yield f"{folder}/weekly meeting.txt", texts.MEETING.replace("\n", "\r\n").encode("cp1252")
    yield f"{folder}/field test.md", texts.FIELD_TEST.encode()
    complaint = mail(
        subject="Third repair of the front brake",
        text=texts.COMPLAINT,
        html=f"<p>{texts.COMPLAINT}</p>",
        sender="Hanna Gruber <hanna.gruber@example.com>",
    )
    yield f"{folder}/complaint.eml", complaint
    yield f"{folder}/visit in Ghent.html", texts.DEALER_VISIT.encode()
    yield f"{folder}/spring campaign.pptx", unfolded(pptx(texts.CAMPAIGN))
    yield f"{folder}/winter storage.pdf", pdf(texts.WINTER_STORAGE)
    yield f"{folder}/returns.docx", unfolded(docx(texts.RETURNS))
    yield f"{folder}/Köln/Übergabe #7 [Entwurf].odt", unfolded(odt(texts.HANDOVER))
    yield f"{folder}/prices of parts.xls", xls(texts.PARTS)


def _unreadable() -> Iterator[tuple[str, bytes]]:
    folder = "support/notes/broken"
    yield f"{folder}/empty.txt", b""
    yield f"{folder}/scan.pdf", pdf([None, None])
    yield (
        f"{folder}/with a password.pdf",
        encrypted_pdf(texts.WINTER_STORAGE, algorithm="RC4-128", user_password="secret"),
    )
    whole = unfolded(docx(texts.RETURNS))
    yield f"{folder}/cut off.docx", whole[: len(whole) // 2]
    yield f"{folder}/photo.png", _grey_png()
    yield f"{folder}/backup.zip", unfolded(package({"notes.bin": b"\1\2\3"}))


def _inbox() -> Iterator[tuple[str, bytes]]:
    for name, text in texts.INBOX.items():
        content = text.encode()
        if name.endswith(".eml"):
            content = mail(subject="Where is it?", text=text, sender="nuno@example.com")
        yield f"support/inbox/{name}", content


def _invoices(random: Random) -> Iterator[tuple[str, bytes]]:
    folder = "retail/invoices/2026-11"
    bodies = [mail_of_a_supplier(random) for _ in range(8)]
    lines = [[line for line in body.split("\n") if line] for body in bodies]
    yield f"{folder}/1.pdf", pdf([bodies[0]])
    yield f"{folder}/2.pdf", pdf([bodies[1]])
    yield f"{folder}/3.docx", unfolded(docx(lines[2]))
    yield f"{folder}/4.eml", mail(subject="Invoice", text=bodies[3], sender="accounts@finch.example.org")
    yield f"{folder}/5.html", f"<html><body><pre>{bodies[4]}</pre></body></html>".encode()
    yield (
        f"{folder}/6.xlsx",
        unfolded(xlsx({"Invoice": {f"A{n}": line for n, line in enumerate(lines[5], 1)}})),
    )
    yield f"{folder}/7.csv", "".join(f'"{line}"\n' for line in lines[6]).encode()
    yield f"{folder}/8.txt", bodies[7].encode()


def _leaflets() -> Iterator[tuple[str, bytes]]:
    yield "retail/leaflets/care.md", texts.CARE.encode()
    yield "retail/leaflets/tyres.docx", unfolded(docx(texts.TYRES))


def _grey_png(*, width: int = 32, height: int = 32) -> bytes:
    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 0)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(name, data) for name, data in chunks)


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

"""Which kind a file is: content, then name, then declared type."""

import pytest

from shared.adapters.extract import media
from shared.adapters.extract.media import Family, classify

DOCX_MAGIC = b"PK\x03\x04" + bytes(30)


def family(head: bytes, name: str = "file", content_type: str | None = None) -> Family:
    return classify(head, name=name, content_type=content_type).family


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"%PDF-1.7\n", Family.PDF),
        (b"\n%PDF-1.4", Family.PDF),
        (DOCX_MAGIC, Family.PACKAGE),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Family.COMPOUND),
        (b"{\\rtf1\\ansi", Family.RTF),
        (b"\x89PNG\r\n\x1a\n", Family.IMAGE),
        (b"\xff\xd8\xff\xe0", Family.IMAGE),
        (b"II*\x00", Family.IMAGE),
        (b"RIFF\x00\x00\x00\x00WEBP", Family.IMAGE),
        (b"\x00\x00\x00\x18ftypheic", Family.IMAGE),
        (b"\x00\x00\x00\x18ftypisom", Family.FOREIGN),
        (b"\x1f\x8b\x08", Family.FOREIGN),
        (b"MZ" + bytes(60), Family.FOREIGN),
        (b"MZ\x90\x00\x03" + b"\xff" * 200, Family.FOREIGN),
        (b"MZ" + b"\xe8\x04\x02" * 20, Family.FOREIGN),
        (b"\x7fELF\x02\x01\x01", Family.FOREIGN),
        (b"\xcf\xfa\xed\xfe\x07", Family.FOREIGN),
        (b"\0asm\x01\0\0\0", Family.FOREIGN),
        (b"BZh91AY&SY", Family.FOREIGN),
        (b"7z\xbc\xaf\x27\x1c", Family.FOREIGN),
        (b"Rar!\x1a\x07\x01\x00", Family.FOREIGN),
        (b"MSCF\0\0\0\0", Family.FOREIGN),
        (b"!<arch>\ndebian-binary", Family.FOREIGN),
        (b"\n<!-- made by hand -->\n<!DOCTYPE html>", Family.HTML),
        (b'\xef\xbb\xbf<?xml version="1.0"?><html lang="de">', Family.HTML),
        (b"Received: by mx\n\tfor x\nFrom: a@b.example\n\nhi", Family.MAIL),
    ],
)
def test_content_decides_whatever_the_name_says(head: bytes, expected: Family) -> None:
    assert family(head, name="notes.txt", content_type="text/plain") is expected


@pytest.mark.parametrize(
    "prose",
    [
        b"BMW sold more cars",
        b"MZ is a brand of motorcycles",
        b"MZ",
        b"MZ\xfc nchen in an old encoding\r\n\tand a tab",
        b"A file begins with %PDF-1.7 if it is one",
        b"From: Ana\nTo: Ben\n\nan agreement copied out of a mail",
        b"<html5> is no tag",
        b"PKW und LKW",
    ],
)
def test_prose_that_looks_like_a_signature_stays_text(prose: bytes) -> None:
    assert family(prose, name="notes.txt") is Family.TEXT


@pytest.mark.parametrize(
    ("name", "content_type", "expected"),
    [
        ("a.csv", "application/octet-stream", "text/csv"),
        ("a.MD", None, "text/markdown"),
        ("a", "text/csv; charset=utf-8", "text/csv"),
        ("a.csv", "text/plain", "text/csv"),
        ("a.json", None, "application/json"),
        ("a.xls", None, media.PLAIN),
        ("a", "application/octet-stream", media.PLAIN),
        ("a.page", "text/html", media.HTML),
        ("a.eml", None, media.MAIL),
    ],
)
def test_the_name_then_the_declared_type_name_what_is_only_text(
    name: str, content_type: str | None, expected: str
) -> None:
    assert classify(b"a,b\n1,2\n", name=name, content_type=content_type).media_type == expected


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("a.pdf", None), ("a.docx", None), ("scan.png", "image/png"), ("a", "application/pdf")],
)
def test_a_promised_signature_that_is_missing_is_noticed(name: str, content_type: str | None) -> None:
    assert family(b"just some text", name=name, content_type=content_type) is Family.MISNAMED


def test_junk_before_a_pdf_is_forgiven_when_the_name_agrees() -> None:
    assert family(b"HTTP junk\r\n%PDF-1.5", name="a.pdf") is Family.PDF

"""Each kind of document, sound ones and those without text."""

import pytest

from examples.generator.formats.compound import compound
from examples.generator.formats.mail import mail
from examples.generator.formats.office import Cell, docx, odt, package, pptx, xls, xlsx
from examples.generator.formats.pdf import encrypted_pdf, pdf
from shared.adapters.extract import media
from shared.domain.extraction import Extraction, Unreadable, UnreadableReason
from tests.unit.extract.conftest import Extract

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = """<!DOCTYPE html><html><head><meta charset="{0}"><title>t</title></head><body>
<nav><a href="/">Start</a> <a href="/shop">Shop</a></nav>
<article><h1>Überschrift</h1><p>Die Lieferung kam am Montag an, und zwar vollständig und ohne Schaden.</p>
<script>var hidden = 1;</script></article></body></html>"""


BROKEN_DOCX = docx(["x"], parts={"word/document.xml": "<w:document"})
BROKEN_DOC = compound({"WordDocument": b"\xec\xa5" + b"x" * 5_000})
RUSSIAN = "Уважаемые коллеги, направляем вам отчёт о поставках за последний месяц. "  # noqa: RUF001


def text(found: Extraction | Unreadable) -> str:
    assert isinstance(found, Extraction), found
    return found.text


def reason(found: Extraction | Unreadable) -> UnreadableReason:
    assert isinstance(found, Unreadable), found
    return found.reason


async def test_a_pdf_gives_its_pages_in_order(extract: Extract) -> None:
    found = await extract(pdf(["Grüße (eins)", "zwei"]), "a.pdf")

    assert found == Extraction(text="Grüße (eins)\n\nzwei", media_type=media.PDF, pages=2)


async def test_a_page_that_is_an_image_is_reported_beside_the_text_of_the_others(extract: Extract) -> None:
    found = await extract(pdf(["one", None, "three"]), "a.pdf")

    assert found == Extraction(text="one\n\nthree", media_type=media.PDF, pages=3, pages_without_text=(2,))


async def test_a_scan_has_no_text_and_says_how_many_pages_it_has(extract: Extract) -> None:
    found = await extract(pdf([None, None]), "scan.pdf")

    assert reason(found) is UnreadableReason.NO_TEXT
    assert isinstance(found, Unreadable)
    assert "All 2 pages" in found.message


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
async def test_a_pdf_encrypted_with_an_empty_password_opens(extract: Extract, algorithm: str) -> None:
    found = await extract(encrypted_pdf(["free to read"], algorithm=algorithm, user_password=""), "a.pdf")

    assert text(found) == "free to read"


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
async def test_a_pdf_with_a_real_password_is_encrypted(extract: Extract, algorithm: str) -> None:
    found = await extract(encrypted_pdf(["secret"], algorithm=algorithm, user_password="pw"), "a.pdf")

    assert reason(found) is UnreadableReason.ENCRYPTED
    assert isinstance(found, Unreadable)
    assert "password protected" in found.message


async def test_a_word_document_under_any_name(extract: Extract) -> None:
    found = await extract(docx(["Hello", "World & co"]), "old.doc")

    assert found == Extraction(text="Hello\n\nWorld & co\n", media_type=media.DOCX)


async def test_a_word_document_of_pictures_has_no_text_and_one_of_nothing_is_empty(extract: Extract) -> None:
    pictures = docx([""], parts={"word/media/scan.png": b"\x89PNG"})

    assert reason(await extract(pictures, "a.docx")) is UnreadableReason.NO_TEXT
    assert reason(await extract(docx([""]), "a.docx")) is UnreadableReason.EMPTY


async def test_a_presentation_gives_its_slides_in_order(extract: Extract) -> None:
    found = await extract(pptx([["Title", "a line"], ["Last slide"]]), "a.pptx")

    assert found == Extraction(text="Title\n\na line\n\nLast slide\n", media_type=media.PPTX)


async def test_a_workbook_gives_sheets_rows_and_plain_values(extract: Extract) -> None:
    cells: dict[str, Cell] = {"A1": "item", "B1": "a\nprice", "A3": True, "B3": 3.0, "C3": 0.1}

    found = await extract(xlsx({"Sales": cells, "Nothing": {}}), "a.xlsx")

    assert found == Extraction(text="# Sales\nitem\ta price\nTRUE\t3\t0.1\n\n", media_type=media.XLSX)


async def test_a_workbook_whose_cells_lie_far_apart_is_read_without_the_void_between(
    extract: Extract,
) -> None:
    found = await extract(xlsx({"S": {"A1": "near", "B1": 2.5, "XFD1048576": "far"}}), "a.xlsx")

    assert text(found) == "# S\nnear\t2.5\nfar\n"


async def test_a_workbook_without_cells_is_empty(extract: Extract) -> None:
    assert reason(await extract(xlsx({"S": {}}), "a.xlsx")) is UnreadableReason.EMPTY


async def test_an_old_workbook(extract: Extract) -> None:
    found = await extract(xls([["item", "price"], ["tea", "3"]]), "a.xls")

    assert found == Extraction(text="# S1\nitem\tprice\ntea\t3\n\n", media_type=media.XLS)


async def test_open_document_and_rich_text(extract: Extract) -> None:
    assert await extract(odt(["Hallo"]), "a.odt") == Extraction(text="Hallo\n", media_type=media.ODT)
    assert await extract(b"{\\rtf1\\ansicpg1252 Gr\\'fc\\'dfe}", "a.doc") == Extraction(
        text="Grüße\n", media_type=media.RTF
    )


async def test_an_office_document_in_an_encrypted_container(extract: Extract) -> None:
    protected = compound({"EncryptedPackage": b"\1" * 5_000, "EncryptionInfo": b"\4\0\4\0"})

    assert reason(await extract(protected, "a.docx")) is UnreadableReason.ENCRYPTED


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252"])
async def test_a_web_page_gives_its_main_content_in_its_own_encoding(extract: Extract, charset: str) -> None:
    found = await extract(PAGE.format(charset).encode(charset), "a.html")

    assert "Überschrift" in text(found)
    assert "vollständig" in text(found)
    assert "hidden" not in text(found)
    assert "Shop" not in text(found)


async def test_a_web_page_without_visible_text(extract: Extract) -> None:
    assert reason(await extract(b"<html><script>x</script></html>", "a")) is UnreadableReason.NO_TEXT


async def test_a_mail_gives_headers_body_and_what_is_attached(extract: Extract) -> None:
    message = mail(
        subject="Angebot für März",
        text="Bitte prüfen.",
        html="<p>Bitte prüfen.</p>",
        attachments=[
            ("preise.csv", "text/csv", "Tee;3 €".encode()),
            ("scan.pdf", "application/pdf", b"%PDF-"),
        ],
        forwarded=b"and what I got",
    )

    found = await extract(message, "a.eml")

    assert text(found) == (
        "From: Ana Müller <ana@contoso.example>\nTo: ben@contoso.example\nSubject: Angebot für März\n"
        "\nBitte prüfen.\n"
        "\n[Attachment: preise.csv, text/csv]\nTee;3 €\n"
        "\n[Attachment: scan.pdf, application/pdf]\n"
        "\n[Attachment: without a name, message/rfc822]\nSubject: the forwarded one\n\nand what I got\n"
    )


async def test_a_mail_in_html_only_is_read_without_its_tags(extract: Extract) -> None:
    found = await extract(mail(subject="Hi", html="<p>Hello <b>Ben</b></p>"), "a.eml")

    assert text(found).endswith("Subject: Hi\n\nHello Ben\n")


async def test_a_mail_in_text_and_html_is_read_once(extract: Extract) -> None:
    found = await extract(mail(subject="Hi", text="Hello Ben", html="<p>Hello Ben</p>"), "a.eml")

    assert text(found).endswith("Subject: Hi\n\nHello Ben\n")


async def test_an_encrypted_mail(extract: Extract) -> None:
    message = (
        b"From: a@b.example\nMIME-Version: 1.0\nContent-Type: multipart/encrypted; boundary=x\n\n--x--\n"
    )

    assert reason(await extract(message, "a.eml")) is UnreadableReason.ENCRYPTED


async def test_text_in_an_old_encoding_is_read_by_its_statistics(extract: Extract) -> None:
    assert text(await extract(RUSSIAN.encode("windows-1251"), "a.txt")) == RUSSIAN


async def test_the_answer_does_not_depend_on_who_read_the_text(extract: Extract) -> None:
    line = "Grüße\0\r\n"

    assert text(await extract((line * 50).encode(), "a.txt")) == "Grüße\n" * 50
    assert text(await extract((line * 50).replace("\0", "").encode("cp1252"), "a.txt")) == "Grüße\n" * 50


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        pytest.param(b"\x89PNG\r\n\x1a\n....", "a.png", UnreadableReason.NO_TEXT, id="picture"),
        pytest.param(b"\xff\xd8\xff\xe0....", "scan.pdf", UnreadableReason.NO_TEXT, id="picture called pdf"),
        pytest.param(b"\x7fELF....", "a.txt", UnreadableReason.UNSUPPORTED_TYPE, id="program"),
        pytest.param(package({"a.txt": "x"}), "a.zip", UnreadableReason.UNSUPPORTED_TYPE, id="archive"),
        pytest.param(compound({"__x": b"x"}), "a.msg", UnreadableReason.UNSUPPORTED_TYPE, id="outlook"),
        pytest.param(b"no magic", "a.docx", UnreadableReason.CORRUPT, id="text called docx"),
        pytest.param(b"%PDF-1.7 nothing more", "a.pdf", UnreadableReason.CORRUPT, id="pdf without body"),
        pytest.param(pdf(["x"] * 9)[:1_200], "a.pdf", UnreadableReason.CORRUPT, id="cut pdf"),
        pytest.param(docx(["x"])[:300], "a.docx", UnreadableReason.CORRUPT, id="cut docx"),
        pytest.param(BROKEN_DOCX, "a.docx", UnreadableReason.CORRUPT, id="bad xml"),
        pytest.param(BROKEN_DOC, "a.doc", UnreadableReason.CORRUPT, id="bad doc"),
        pytest.param(compound({"Workbook": b"\x09\x08"}), "a.xls", UnreadableReason.CORRUPT, id="bad xls"),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_says_why(
    extract: Extract, content: bytes, name: str, expected: UnreadableReason
) -> None:
    assert reason(await extract(content, name)) is expected

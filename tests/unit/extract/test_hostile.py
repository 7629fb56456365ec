"""Files that want more than a reader may have. Bounds are proved by what is refused under a small bound."""

from pathlib import Path

import pytest

from examples.generator.formats.office import docx, xlsx
from examples.generator.formats.pdf import pdf
from shared.adapters.extract.extractor import ForkExtractor
from shared.adapters.extract.limits import ChildLimits
from shared.domain.extraction import Extraction, Unreadable, UnreadableReason
from tests.documents.hostile import bomb, crowded_package, deep_page, entity_workbook, lying_package
from tests.documents.pdf import self_drawing_pdf, unfolding_pdf
from tests.unit.extract.conftest import LIMITS, MEGABYTE, Extract

pytestmark = pytest.mark.asyncio(loop_scope="module")


def refusal(found: Extraction | Unreadable) -> tuple[UnreadableReason, str]:
    assert isinstance(found, Unreadable), found
    return found.reason, found.message


async def test_a_zip_bomb_is_counted_and_not_unfolded_whatever_its_name(tmp_path: Path) -> None:
    source = tmp_path / "downloaded"
    source.write_bytes(bomb("word/document.xml", megabytes=2_048))
    # Two gigabytes in less memory than the loaded readers and 100 MB: they are counted piece by piece.
    child_limits = ChildLimits(memory_bytes=256 * MEGABYTE, max_inflated_bytes=64 * MEGABYTE)
    extractor = ForkExtractor(limits=LIMITS, child_limits=child_limits)

    found = await extractor.extract(source, name="old.doc", content_type=None)
    await extractor.close()

    reason, message = refusal(found)
    assert reason is UnreadableReason.TOO_LARGE
    assert "unfolds to more than 67,108,864 bytes" in message


async def test_a_zip_that_lies_about_its_sizes_is_corrupt(extract: Extract) -> None:
    liar = lying_package(docx(["x" * 4_000_000]), declared_bytes=1_000)

    assert refusal(await extract(liar, "a.docx"))[0] is UnreadableReason.CORRUPT


async def test_a_zip_that_lies_and_is_too_large_stops_at_its_first_lie(extract: Extract) -> None:
    liar = lying_package(bomb("word/document.xml", megabytes=500), declared_bytes=1_000)

    assert refusal(await extract(liar, "a.docx"))[0] is UnreadableReason.CORRUPT


async def test_a_zip_of_too_many_files_is_too_large(extract: Extract) -> None:
    reason, message = refusal(await extract(crowded_package(files=101), "a.docx"))

    assert reason is UnreadableReason.TOO_LARGE
    assert "more than 100 files" in message


async def test_a_page_that_unfolds_to_a_hundred_times_its_size_is_too_large(extract: Extract) -> None:
    assert refusal(await extract(unfolding_pdf(megabytes=80), "a.pdf"))[0] is UnreadableReason.TOO_LARGE


async def test_a_form_that_draws_itself_does_not_hide_the_text_beside_it(extract: Extract) -> None:
    found = await extract(self_drawing_pdf(), "a.pdf")

    assert isinstance(found, Extraction)
    assert found.text == "Text beside the loop"


async def test_a_pdf_of_too_many_pages_is_too_large(extract: Extract) -> None:
    reason, message = refusal(await extract(pdf(["x"] * 51), "a.pdf"))

    assert reason is UnreadableReason.TOO_LARGE
    assert "51 pages" in message


async def test_more_text_than_allowed_is_too_large(extract: Extract) -> None:
    reason, message = refusal(await extract(docx(["word " * 250_000]), "a.docx"))

    assert reason is UnreadableReason.TOO_LARGE
    assert "1,048,576 bytes of text" in message


async def test_a_page_too_deep_for_finding_its_main_content_is_still_read(extract: Extract) -> None:
    found = await extract(deep_page(depth=100_000), "a.html")

    assert isinstance(found, Extraction)
    assert found.text == "the bottom"


async def test_entities_of_entities_do_not_unfold(extract: Extract) -> None:
    found = await extract(entity_workbook(), "a.xlsx")

    assert isinstance(found, Unreadable) or len(found.text) < 1_000


async def test_a_wide_workbook_needs_no_more_memory_than_its_cells(extract: Extract) -> None:
    found = await extract(xlsx({"S": {"A1": "a", "XFD900000": "b"}}), "a.xlsx")

    assert isinstance(found, Extraction)

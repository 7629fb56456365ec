"""What every extractor promises, told with text files: the only kind that all of them read."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from shared.adapters.extract.extractor import ForkExtractor
from shared.adapters.memory.extractor import MemoryExtractor
from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable, UnreadableReason
from shared.ports.extractor import Extractor

EXTRACTORS = [pytest.param(MemoryExtractor, id="memory"), pytest.param(ForkExtractor, id="fork")]
LIMITS = ExtractionLimits(max_source_bytes=2_000, max_text_bytes=1_000)

type MakeExtractor = Callable[..., Extractor]


@pytest.fixture(params=EXTRACTORS)
async def extractor(request: pytest.FixtureRequest) -> AsyncIterator[Extractor]:
    make: MakeExtractor = request.param
    made = make(limits=LIMITS)
    yield made
    await made.close()


@pytest.fixture
def document(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        source = tmp_path / "downloaded"
        source.write_bytes(content)
        return source

    return write


type Document = Callable[[bytes], Path]


async def text_of(extractor: Extractor, source: Path) -> str:
    found = await extractor.extract(source, name="note.txt", content_type="text/plain")
    assert isinstance(found, Extraction), found
    return found.text


async def reason_of(extractor: Extractor, source: Path, name: str = "note.txt") -> UnreadableReason:
    found = await extractor.extract(source, name=name, content_type=None)
    assert isinstance(found, Unreadable), found
    assert found.message.endswith(".")
    return found.reason


async def test_a_text_file_gives_its_text(extractor: Extractor, document: Document) -> None:
    assert await text_of(extractor, document("Grüße aus Köln\n".encode())) == "Grüße aus Köln\n"


async def test_a_byte_order_mark_is_no_text(extractor: Extractor, document: Document) -> None:
    assert await text_of(extractor, document(b"\xef\xbb\xbfhello")) == "hello"


async def test_text_never_holds_nul(extractor: Extractor, document: Document) -> None:
    assert await text_of(extractor, document(b"a\0b")) == "ab"


async def test_lines_end_with_a_line_feed_whatever_they_ended_with(
    extractor: Extractor, document: Document
) -> None:
    assert await text_of(extractor, document(b"dos\r\nmac\runix\n")) == "dos\nmac\nunix\n"


async def test_the_name_tells_apart_what_content_cannot(extractor: Extractor, document: Document) -> None:
    found = await extractor.extract(document(b"# Title"), name="notes/a.md", content_type=None)

    assert found == Extraction(text="# Title", media_type="text/markdown")


@pytest.mark.parametrize("content", [b"", b" \r\n\t", b"\0\0", b"\xef\xbb\xbf"])
async def test_nothing_visible_is_empty(extractor: Extractor, document: Document, content: bytes) -> None:
    assert await reason_of(extractor, document(content)) is UnreadableReason.EMPTY


@pytest.mark.parametrize("size", [1_001, 2_001])
async def test_more_than_the_limits_is_too_large(extractor: Extractor, document: Document, size: int) -> None:
    assert await reason_of(extractor, document(b"x" * size)) is UnreadableReason.TOO_LARGE


async def test_the_limits_themselves_are_not_too_large(extractor: Extractor, document: Document) -> None:
    assert len(await text_of(extractor, document(b"x" * 1_000))) == 1_000


async def test_noise_under_an_unknown_name_is_unsupported(extractor: Extractor, document: Document) -> None:
    noise = bytes((n * 7_919 >> 3) % 256 for n in range(900))

    assert await reason_of(extractor, document(noise), "core.dump") is UnreadableReason.UNSUPPORTED_TYPE


async def test_a_source_that_is_gone_says_nothing_about_the_document(
    extractor: Extractor, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        await extractor.extract(tmp_path / "gone", name="note.txt", content_type=None)


async def test_the_same_file_gives_the_same_answer_and_stays_as_it_was(
    extractor: Extractor, document: Document
) -> None:
    source = document(b"twice\r\n")

    answers = await asyncio.gather(*(text_of(extractor, source) for _ in range(20)))

    assert set(answers) == {"twice\n"}
    assert source.read_bytes() == b"twice\r\n"


async def test_closing_twice_does_no_more_than_closing_once(extractor: Extractor) -> None:
    await extractor.close()
    await extractor.close()

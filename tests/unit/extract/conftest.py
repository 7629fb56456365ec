"""One extractor for all tests of a module: its server starts once."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from shared.adapters.extract.extractor import ForkExtractor
from shared.adapters.extract.limits import ChildLimits
from shared.domain.extraction import Extraction, ExtractionLimits, Unreadable

MEGABYTE = 2**20

# Small enough for a bomb to be felt in a second, large enough for any honest document here.
LIMITS = ExtractionLimits(max_source_bytes=8 * MEGABYTE, max_text_bytes=MEGABYTE, max_pages=50)
CHILD_LIMITS = ChildLimits(
    memory_bytes=400 * MEGABYTE,
    cpu_seconds=3,
    wall_seconds=60,
    max_inflated_bytes=16 * MEGABYTE,
    max_entries=100,
)

type Extract = Callable[..., Awaitable[Extraction | Unreadable]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def extractor() -> AsyncIterator[ForkExtractor]:
    made = ForkExtractor(limits=LIMITS, child_limits=CHILD_LIMITS)
    yield made
    await made.close()


@pytest.fixture
def extract(extractor: ForkExtractor, tmp_path: Path) -> Extract:
    async def read(content: bytes, name: str, content_type: str | None = None) -> Extraction | Unreadable:
        source = tmp_path / "downloaded"
        source.write_bytes(content)
        return await extractor.extract(source, name=name, content_type=content_type)

    return read

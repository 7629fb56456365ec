"""The catalogue in a blob that changes under us."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.files.catalog_blob import CatalogBlob
from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.clock import FixedClock
from shared.domain.errors import TryAgainLater
from shared.ports.blobs import BlobInfo
from shared.wire.catalog import CatalogRefused
from tests.unit.catalog.texts import ENV, GOOD

PATH = "config/catalog.yaml"
OTHER = GOOD.replace("nightly", "weekly")
BAD = GOOD.replace("nightly: {hours: [mini]}", "nightly: {hours: [minni]}")


class Unsteady(MemoryBlobs):
    """Storage that can be away, and that counts how often it is asked."""

    def __init__(self, clock: FixedClock) -> None:
        super().__init__(clock, piece_bytes=100)
        self.heads = 0
        self.away = False

    async def head(self, path: str) -> BlobInfo | None:
        self.heads += 1
        if self.away:
            raise TryAgainLater("storage is away")
        return await super().head(path)


class Watched:
    def __init__(self) -> None:
        self.clock = FixedClock(datetime(2026, 11, 30, tzinfo=UTC))
        self.blobs = Unsteady(self.clock)
        self.refused: list[CatalogRefused] = []
        self.source = CatalogBlob(self.blobs, PATH, env=ENV, clock=self.clock, on_refused=self.refused.append)

    async def write(self, text: str) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield text.encode()

        await self.blobs.write(PATH, pieces())

    async def aliases(self) -> set[str]:
        return set((await self.source.current()).aliases)

    def wait(self, seconds: int = 10) -> None:
        self.clock.advance(timedelta(seconds=seconds))


@pytest.fixture
def watched() -> Watched:
    return Watched()


async def test_a_changed_blob_is_taken_over_after_ten_seconds(watched: Watched) -> None:
    await watched.write(GOOD)
    assert "nightly" in await watched.aliases()

    await watched.write(OTHER)
    for _ in range(9):
        watched.wait(1)
        assert "nightly" in await watched.aliases()
    assert watched.blobs.heads == 1

    watched.wait(1)
    assert "weekly" in await watched.aliases()
    assert watched.blobs.heads == 2


async def test_a_bad_version_is_reported_once_and_the_last_good_one_stays(watched: Watched) -> None:
    await watched.write(GOOD)
    await watched.aliases()

    await watched.write(BAD)
    for _ in range(3):
        watched.wait()
        assert "nightly" in await watched.aliases()

    assert [(r.file, r.problems[0].line) for r in watched.refused] == [(PATH, 8)]


async def test_while_storage_is_away_the_last_good_one_stays_and_it_is_logged_once(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    await watched.write(GOOD)
    await watched.aliases()

    watched.blobs.away = True
    for _ in range(3):
        watched.wait()
        assert "nightly" in await watched.aliases()

    assert [record.message for record in caplog.records] == ["catalog.unreadable"]
    assert watched.source.trouble == "storage is away"

    watched.blobs.away = False
    watched.wait()
    await watched.aliases()
    assert watched.source.trouble is None


async def test_without_any_good_version_the_reason_is_told(watched: Watched) -> None:
    with pytest.raises(TryAgainLater, match=r"config/catalog\.yaml:1: does not exist"):
        await watched.source.current()

    watched.blobs.away = True
    watched.wait()
    with pytest.raises(TryAgainLater, match="storage is away"):
        await watched.source.current()


async def test_callers_at_the_same_time_ask_storage_once(watched: Watched) -> None:
    await watched.write(GOOD)

    await asyncio.gather(*(watched.aliases() for _ in range(20)))

    assert watched.blobs.heads == 1


async def test_a_schema_lies_beside_the_catalogues_blob(watched: Watched) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"type": "object"}'

    await watched.blobs.write("config/schemas/bill.json", pieces())
    await watched.write(
        GOOD + "pipelines:\n  bills: {task: extract, alias: summarize, schema: schemas/bill.json}\n"
    )

    assert (await watched.source.current()).pipelines["bills"].schema_content == {"type": "object"}

"""The catalogue in a file that changes under us."""

import asyncio
import logging
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.files.catalog_file import CatalogFile
from shared.adapters.memory.clock import FixedClock
from shared.domain.errors import TryAgainLater
from shared.ports.catalog import CatalogSource
from shared.wire.catalog import CatalogRefused
from tests.unit.catalog.texts import ENV, GOOD

# As long as the good one: its size tells nothing.
OTHER = GOOD.replace("nightly", "monthly")
BAD = GOOD.replace("nightly: {hours: [mini]}", "nightly: {hours: [minni]}")
SECOND = timedelta(seconds=1)


class Watched:
    """A catalogue file, its source and what the source reported."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = FixedClock(datetime(2026, 11, 30, tzinfo=UTC))
        self.refused: list[CatalogRefused] = []
        self.file = CatalogFile(path, env=ENV, clock=self.clock, on_refused=self.refused.append)
        self.source: CatalogSource = self.file

    def write(self, text: str) -> None:
        """As an editor that writes beside and renames: a new inode is a new version, whatever the time."""
        beside = self.path.with_suffix(".new")
        beside.write_text(text)
        beside.rename(self.path)

    async def aliases(self) -> set[str]:
        return set((await self.source.current()).aliases)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "catalog.yaml")


async def test_a_changed_file_is_taken_over_after_a_second(watched: Watched) -> None:
    watched.write(GOOD)
    assert "nightly" in await watched.aliases()

    watched.write(OTHER)
    watched.clock.advance(SECOND / 2)
    assert "nightly" in await watched.aliases()

    watched.clock.advance(SECOND / 2)
    assert "monthly" in await watched.aliases()


async def test_a_file_written_in_place_is_taken_over(watched: Watched) -> None:
    watched.write(GOOD)
    await watched.aliases()

    with watched.path.open("w") as opened:
        opened.write(OTHER)
    status = watched.path.stat()
    os.utime(watched.path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    watched.clock.advance(SECOND)

    assert "monthly" in await watched.aliases()


async def test_an_unchanged_file_is_the_same_catalogue(watched: Watched) -> None:
    watched.write(GOOD)
    first = await watched.source.current()

    watched.clock.advance(SECOND)

    assert await watched.source.current() is first


async def test_a_link_that_is_switched_over_is_followed(tmp_path: Path) -> None:
    (tmp_path / "1.yaml").write_text(GOOD)
    (tmp_path / "2.yaml").write_text(OTHER)
    link = tmp_path / "link.yaml"
    link.symlink_to("1.yaml")
    watched = Watched(link)
    await watched.aliases()

    link.unlink()
    link.symlink_to("2.yaml")
    watched.clock.advance(SECOND)

    assert "monthly" in await watched.aliases()


async def test_a_bad_version_is_reported_once_and_the_last_good_one_stays(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.write(GOOD)
    await watched.aliases()

    watched.write(BAD)
    for _ in range(3):
        watched.clock.advance(SECOND)
        assert "nightly" in await watched.aliases()

    assert [(r.file, r.problems[0].line) for r in watched.refused] == [(str(watched.path), 8)]
    logged = [record for record in caplog.records if record.message == "catalog.refused"]
    assert [record.__dict__["problems"] for record in logged] == [
        ["line 8: aliases.nightly.hours[0]: 'minni' is not among the deployments; did you mean 'mini'?"]
    ]
    assert watched.file.trouble is not None


async def test_a_mended_version_is_taken_over(watched: Watched) -> None:
    watched.write(GOOD)
    await watched.aliases()
    watched.write(BAD)
    watched.clock.advance(SECOND)
    await watched.aliases()

    watched.write(OTHER)
    watched.clock.advance(SECOND)

    assert "monthly" in await watched.aliases()
    assert watched.file.trouble is None


async def test_a_file_that_vanishes_is_reported_once_and_the_last_good_one_stays(watched: Watched) -> None:
    watched.write(GOOD)
    await watched.aliases()

    watched.path.unlink()
    for _ in range(3):
        watched.clock.advance(SECOND)
        await watched.aliases()

    assert [str(r) for r in watched.refused] == [f"{watched.path}:1: does not exist"]


async def test_without_any_good_version_the_reason_is_told(watched: Watched) -> None:
    with pytest.raises(TryAgainLater, match=r"no good catalogue yet: .*catalog\.yaml:1: does not exist"):
        await watched.source.current()

    watched.write(BAD)
    watched.clock.advance(SECOND)
    with pytest.raises(TryAgainLater, match=r"catalog\.yaml:8: aliases\.nightly\.hours\[0\]: 'minni'"):
        await watched.source.current()

    watched.write(GOOD)
    watched.clock.advance(SECOND)
    assert "nightly" in await watched.aliases()


async def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(TryAgainLater, match="is not a file"):
        await Watched(tmp_path).source.current()


async def test_a_first_version_that_is_too_large_is_refused(watched: Watched) -> None:
    watched.write("#" * 2_000_000)

    with pytest.raises(TryAgainLater, match="larger than 1048576 bytes"):
        await watched.source.current()


async def test_a_clock_that_is_set_back_does_not_stop_us_from_looking(watched: Watched) -> None:
    watched.write(GOOD)
    later = FixedClock(datetime(2026, 11, 30, 12, tzinfo=UTC))
    source = CatalogFile(watched.path, env=ENV, clock=_Switched(later, watched.clock))
    await source.current()

    watched.write(OTHER)

    assert "monthly" in (await source.current()).aliases


async def test_callers_at_the_same_time_get_the_same_catalogue_from_one_reading(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    watched.write(GOOD)

    got = await asyncio.gather(*(watched.source.current() for _ in range(20)))

    assert len({id(catalog) for catalog in got}) == 1
    assert [record.message for record in caplog.records] == ["catalog.loaded"]


class _Switched:
    """Shows the first clock until the first reading is over, then the second."""

    def __init__(self, first: FixedClock, second: FixedClock) -> None:
        self._clocks = [first, second]

    def now(self) -> datetime:
        return self._clocks.pop(0).now() if len(self._clocks) > 1 else self._clocks[0].now()


WITH_SCHEMA = GOOD + "pipelines:\n  bills: {task: extract, alias: summarize, schema: schemas/bill.json}\n"


def write_schema(watched: Watched, text: str) -> None:
    folder = watched.path.parent / "schemas"
    folder.mkdir(exist_ok=True)
    (folder / "new").write_text(text)
    (folder / "new").rename(folder / "bill.json")


async def schema_of(watched: Watched) -> object:
    return (await watched.source.current()).pipelines["bills"].schema_content


async def test_a_schema_file_is_part_of_the_catalogue_and_is_read_again_when_it_changes(
    watched: Watched,
) -> None:
    write_schema(watched, '{"type": "object"}')
    watched.write(WITH_SCHEMA)
    assert await schema_of(watched) == {"type": "object"}

    write_schema(watched, '{"type": "object", "title": "Bill"}')
    watched.clock.advance(SECOND)

    assert await schema_of(watched) == {"type": "object", "title": "Bill"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "there is no file 'schemas/bill.json' beside the catalogue"),
        ("{", "'schemas/bill.json' is not JSON"),
        ("[1]", "'schemas/bill.json' must hold a JSON object"),
        ('{"title": "' + "x" * 70_000 + '"}', "'schemas/bill.json' has more than 65,536 bytes"),
    ],
)
async def test_a_schema_that_is_no_good_refuses_the_catalogue_until_it_is_mended(
    watched: Watched, content: str | None, reason: str
) -> None:
    if content is not None:
        write_schema(watched, content)
    watched.write(WITH_SCHEMA)

    with pytest.raises(TryAgainLater, match=r"pipelines\.bills\.schema"):
        await watched.source.current()
    assert reason in str(watched.refused[0])

    write_schema(watched, "{}")
    watched.clock.advance(SECOND)
    assert await schema_of(watched) == {}
    assert watched.file.trouble is None

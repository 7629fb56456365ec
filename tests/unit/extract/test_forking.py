"""The processes behind the extractor: who dies, who notices, and that nobody stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from examples.generator.formats.pdf import pdf
from shared.adapters.extract.extractor import ForkExtractor
from shared.adapters.extract.limits import ChildLimits
from shared.domain.extraction import Extraction, ExtractorUnavailable, Unreadable, UnreadableReason
from tests.documents.hostile import bomb, deep_page
from tests.unit.extract.processes import children_of, cpu_ticks, eventually, is_running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

# Counting so much keeps a child busy for longer than any test; it is always ended before.
ENDLESS = ChildLimits(memory_bytes=512 * 2**20, cpu_seconds=100, wall_seconds=90, max_inflated_bytes=2**50)


@pytest.fixture
async def extractor(tmp_path: Path) -> AsyncIterator[ForkExtractor]:
    made = ForkExtractor(child_limits=ENDLESS, directory=tmp_path)
    yield made
    await made.close()


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A document that nobody finishes."""
    source = tmp_path_factory.mktemp("endless") / "bomb"
    source.write_bytes(bomb("word/document.xml", megabytes=4_000))
    return source


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("honest") / "document"
    source.write_bytes(pdf(["an honest page"]))
    return source


def read(extractor: ForkExtractor, source: Path) -> asyncio.Task[Extraction | Unreadable]:
    return asyncio.create_task(extractor.extract(source, name=source.name, content_type=None))


async def a_child_of(extractor: ForkExtractor, *, other_than: int = 0) -> int:
    def look() -> list[int]:
        pid = extractor.server_pid
        return [child for child in children_of(pid) if child != other_than] if pid else []

    return (await eventually(look))[0]


async def test_a_child_killed_in_its_work_harms_no_other_document(
    extractor: ForkExtractor, honest: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(deep_page(depth=200_000))
    broken = read(extractor, page)
    child = await a_child_of(extractor)
    await eventually(lambda: cpu_ticks(child) > 20)
    server = extractor.server_pid
    others = [read(extractor, honest) for _ in range(5)]

    os.kill(child, signal.SIGKILL)

    for other in others:
        assert await other == Extraction(text="an honest page", media_type="application/pdf", pages=1)
    assert (await a_child_of(extractor)) != child
    broken.cancel()
    assert extractor.server_pid == server


async def test_a_document_whose_children_are_killed_twice_is_given_up_with_a_sentence(
    extractor: ForkExtractor, endless: Path
) -> None:
    reading = read(extractor, endless)
    first = await a_child_of(extractor)
    os.kill(first, signal.SIGKILL)
    os.kill(await a_child_of(extractor, other_than=first), signal.SIGKILL)

    found = await reading

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.TOO_LARGE
    assert found.message == "The document needs more than the 512 MiB of memory a reader may use."


@pytest.mark.parametrize("death", [signal.SIGXCPU, signal.SIGALRM])
async def test_a_child_out_of_time_means_too_large(
    extractor: ForkExtractor, endless: Path, death: signal.Signals
) -> None:
    reading = read(extractor, endless)
    os.kill(await a_child_of(extractor), death)

    found = await reading

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.TOO_LARGE
    assert "longer than 100 seconds" in found.message


async def test_a_child_with_a_stray_pointer_means_corrupt(extractor: ForkExtractor, endless: Path) -> None:
    reading = read(extractor, endless)
    os.kill(await a_child_of(extractor), signal.SIGSEGV)

    found = await reading

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.CORRUPT


async def test_the_clock_of_a_child_ends_it(endless: Path) -> None:
    extractor = ForkExtractor(child_limits=ChildLimits(wall_seconds=0.2, max_inflated_bytes=2**50))

    found = await extractor.extract(endless, name="a.docx", content_type=None)
    await extractor.close()

    assert isinstance(found, Unreadable)
    assert found.reason is UnreadableReason.TOO_LARGE


async def test_the_cpu_bound_of_a_child_ends_it(endless: Path) -> None:
    extractor = ForkExtractor(child_limits=ChildLimits(cpu_seconds=1, max_inflated_bytes=2**50))

    found = await extractor.extract(endless, name="a.docx", content_type=None)
    await extractor.close()

    assert isinstance(found, Unreadable)
    assert "longer than 1 second" in found.message


async def test_a_server_killed_in_its_work_is_replaced_and_its_children_die_with_it(
    extractor: ForkExtractor, endless: Path, honest: Path
) -> None:
    lingering = read(extractor, endless)
    child, server = await a_child_of(extractor), extractor.server_pid
    assert server is not None
    os.kill(server, signal.SIGKILL)

    found = await read(extractor, honest)

    assert isinstance(found, Extraction)
    assert extractor.server_pid not in {None, server}
    await eventually(lambda: not is_running(child))
    await a_child_of(extractor)
    lingering.cancel()


async def test_cancelling_ends_the_child_and_frees_its_place(endless: Path, honest: Path) -> None:
    extractor = ForkExtractor(child_limits=ENDLESS, children=1)
    reading = read(extractor, endless)
    child = await a_child_of(extractor)

    reading.cancel()

    assert isinstance(await read(extractor, honest), Extraction)
    await eventually(lambda: not is_running(child))
    await extractor.close()


async def test_no_more_children_than_allowed_work_at_once(endless: Path) -> None:
    extractor = ForkExtractor(child_limits=ENDLESS, children=2)
    readings = [read(extractor, endless) for _ in range(5)]
    await eventually(lambda: len(children_of(extractor.server_pid)) == 2)
    at_once = []

    for _ in readings:
        child = await a_child_of(extractor)
        at_once.append(len(children_of(extractor.server_pid)))
        os.kill(child, signal.SIGSEGV)
        await eventually(partial(_is_gone, child))
        at_once.append(len(children_of(extractor.server_pid)))

    assert all(isinstance(found, Unreadable) for found in await asyncio.gather(*readings))
    assert max(at_once) == 2
    await extractor.close()


async def test_a_child_is_bounded_and_knows_nothing(extractor: ForkExtractor, endless: Path) -> None:
    reading = read(extractor, endless)
    child = Path(f"/proc/{await a_child_of(extractor)}")
    await eventually(lambda: str(endless) in _open_files(child))

    bounds = _bounds(child)

    assert bounds["Max address space"] == str(512 * 2**20)
    assert bounds["Max cpu time"] == "100"
    assert bounds["Max file size"] == str(extractor.limits.max_text_bytes + 2**16)
    assert bounds["Max open files"] == "64"
    assert bounds["Max core file size"] == "0"
    assert (child / "environ").read_bytes() == b""
    assert _open_files(child) == {os.devnull, str(endless)}
    reading.cancel()


async def test_close_leaves_neither_process_nor_file(endless: Path, tmp_path: Path) -> None:
    extractor = ForkExtractor(child_limits=ENDLESS, directory=tmp_path)
    reading = read(extractor, endless)
    child, server = await a_child_of(extractor), extractor.server_pid
    assert server is not None

    await extractor.close()

    assert not is_running(child)
    assert not is_running(server)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ExtractorUnavailable):
        await reading


async def test_texts_and_dead_children_do_not_pile_up(
    extractor: ForkExtractor, honest: Path, tmp_path: Path
) -> None:
    await asyncio.gather(*(read(extractor, honest) for _ in range(20)))

    assert children_of(extractor.server_pid) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_the_server_ends_with_the_app_that_started_it(tmp_path: Path, honest: Path) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", APP, str(tmp_path), str(honest)], stdout=subprocess.PIPE, cwd=Path.cwd()
    )
    assert app.stdout is not None
    server = int(await asyncio.to_thread(app.stdout.readline))
    assert is_running(server)

    app.kill()
    app.wait()
    app.stdout.close()

    await eventually(lambda: not is_running(server))
    await eventually(lambda: list(tmp_path.iterdir()) == [])


APP = """
import asyncio, sys
from pathlib import Path
from shared.adapters.extract.extractor import ForkExtractor

async def main():
    extractor = ForkExtractor(directory=Path(sys.argv[1]))
    await extractor.extract(Path(sys.argv[2]), name="a.pdf", content_type=None)
    print(extractor.server_pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_server_that_cannot_start_is_no_verdict_on_the_document(
    extractor: ForkExtractor, honest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["/nowhere"])

    with pytest.raises(ExtractorUnavailable, match="ended at its start"):
        await extractor.extract(honest, name="a.pdf", content_type=None)


async def test_a_full_disk_is_no_verdict_on_the_document(
    extractor: ForkExtractor, honest: Path, tmp_path: Path
) -> None:
    await read(extractor, honest)
    for texts in tmp_path.iterdir():
        texts.rmdir()

    with pytest.raises(ExtractorUnavailable, match="FileNotFoundError"):
        await read(extractor, honest)


def _is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def _bounds(child: Path) -> dict[str, str]:
    """The soft limits of a process by their names."""
    lines = (child / "limits").read_text().splitlines()[1:]
    return {line[:26].strip(): line[26:].split()[0] for line in lines}


def _open_files(child: Path) -> set[str]:
    links = (os.readlink(link) for link in (child / "fd").iterdir())
    return {file for file in links if file.startswith("/")}

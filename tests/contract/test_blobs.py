"""What every blob store promises, in memory and on Azurite."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.memory.blobs import MemoryBlobs
from shared.domain.errors import Conflict, NotFound
from shared.ports.blobs import BlobInfo, Blobs
from tests.support.azurite import Azurite
from tests.support.streams import SourceBroke, broken, repeated, stream, whole

MEBIBYTE = 1024 * 1024
PIECE = 4 * MEBIBYTE
RACERS = 20


@pytest.fixture(params=["memory", pytest.param("azurite", marks=pytest.mark.azurite)])
async def blobs(request: pytest.FixtureRequest) -> AsyncIterator[Blobs]:
    if request.param == "memory":
        yield MemoryBlobs(SystemClock())
        return
    azurite: Azurite = request.getfixturevalue("azurite")
    storage = StorageConnection(StorageAccount(connection_string=azurite.connection_string))
    yield AzureBlobs(storage, SystemClock())
    await storage.close()


@pytest.fixture
def container() -> str:
    """A name that no other test uses; nothing has created it."""
    return f"c-{uuid4().hex}"


async def paths(found: AsyncIterator[BlobInfo]) -> list[str]:
    return [info.path async for info in found]


async def test_what_is_written_is_read(blobs: Blobs, container: str) -> None:
    path = f"{container}/a.txt"
    written = await blobs.write(path, stream(b"some ", b"", b"text"), content_type="text/plain")
    assert await whole(blobs.read(path)) == b"some text"
    assert written == await blobs.head(path)
    assert (written.path, written.size, written.content_type) == (path, 9, "text/plain")
    assert abs(datetime.now(UTC) - written.modified_at) < timedelta(minutes=1)


async def test_an_empty_blob_is_a_blob(blobs: Blobs, container: str) -> None:
    path = f"{container}/empty"
    written = await blobs.write(path, stream())
    assert written.size == 0
    assert await whole(blobs.read(path)) == b""
    assert await whole(blobs.read(path, etag=written.etag, offset=0, length=10)) == b""


async def test_content_without_a_type_is_bytes(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    written = await blobs.write(path, stream(b"x"))
    head = await blobs.head(path)
    assert written == head
    assert written.content_type == "application/octet-stream"


async def test_what_is_absent_is_absent_to_every_verb(blobs: Blobs, container: str) -> None:
    for path in (f"{container}/absent", f"{container}/deep/absent"):
        assert await blobs.head(path) is None
        for etag in (None, "0xBAD"):
            with pytest.raises(NotFound):
                await whole(blobs.read(path, etag=etag))
        with pytest.raises(NotFound):
            await blobs.copy(path, f"{container}-target/x", etag="0xBAD")
        await blobs.delete(path)
        await blobs.write(f"{container}/other", stream(b"x"))  # now the container is there


async def test_a_deleted_blob_is_gone(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    written = await blobs.write(path, stream(b"x"))
    await blobs.delete(path)
    await blobs.delete(path)
    assert await blobs.head(path) is None
    with pytest.raises(NotFound):
        await whole(blobs.read(path, etag=written.etag))


NAMES = [
    "with space/and more.txt",
    "a+b",
    "a%20b",
    "100%",
    "a#b",
    "a?b=c&d",
    "a[1].pdf",
    'it\'s "quoted"',
    "über/naïve/日本語/😀.txt",
    "e\u0301",
    "deep/" * 60 + "leaf",
    "a//b",
    "/leading",
    "trailing/",
    "dot.",
    "...",
    "a:b|c*d~e@f,g;h=i$j!k(l)",
    "<x>&amp;",
    "x" * 1024,
]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name[:25]))
async def test_any_name_works_in_every_verb(blobs: Blobs, container: str, name: str) -> None:
    path, target = f"{container}/{name}", f"{container}-2/{name}"
    written = await blobs.write(path, stream(name.encode()))
    assert await blobs.head(path) == written
    assert await whole(blobs.read(path, etag=written.etag)) == name.encode()
    assert await paths(blobs.list(f"{container}/")) == [path]
    assert await paths(blobs.list(path)) == [path]
    copied = await blobs.copy(path, target, etag=written.etag)
    assert copied.path == target
    assert await whole(blobs.read(target)) == name.encode()
    await blobs.delete(path)
    assert await blobs.head(path) is None


@pytest.mark.parametrize(
    "name", ["../other/secret", "a/../b", "./a", "a/..", "a\\b", "..\\..\\b", "x" * 1025, "\ud800"], ids=repr
)
async def test_a_name_that_would_reach_another_blob_names_none(
    blobs: Blobs, container: str, name: str
) -> None:
    there = await blobs.write(f"{container}/b", stream(b"x"))
    path = f"{container}/{name}"
    assert await blobs.head(path) is None
    with pytest.raises(NotFound):
        await whole(blobs.read(path))
    with pytest.raises(NotFound):
        await blobs.copy(path, f"{container}/target", etag=there.etag)
    await blobs.delete(path)
    for verb in (
        blobs.write(path, stream(b"y")),
        blobs.copy(f"{container}/b", path, etag=there.etag),
        blobs.upload_url(path, valid_for=timedelta(minutes=1)),
    ):
        with pytest.raises(ValueError, match="blob path"):
            await verb
    assert await paths(blobs.list(f"{container}/")) == [f"{container}/b"]


@pytest.mark.parametrize("path", ["", "nothing", "/a", "UPPER/a", "ab/a", "c-/a", "a--b/a", "container/"])
async def test_a_path_without_container_and_name_is_refused(blobs: Blobs, path: str) -> None:
    for verb in (blobs.head(path), whole(blobs.read(path)), blobs.write(path, stream()), blobs.delete(path)):
        with pytest.raises(ValueError, match="container"):
            await verb


async def test_every_write_is_another_version(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"same"))
    second = await blobs.write(path, stream(b"same"))
    assert first.etag != second.etag
    with pytest.raises(Conflict):
        await whole(blobs.read(path, etag=first.etag))
    assert await whole(blobs.read(path, etag=second.etag)) == b"same"


async def test_an_etag_has_no_quotes_and_may_be_given_with_them(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    written = await blobs.write(path, stream(b"x"))
    assert '"' not in written.etag
    assert await whole(blobs.read(path, etag=f'"{written.etag}"')) == b"x"
    assert [info async for info in blobs.list(path)] == [written]


@pytest.mark.parametrize("size", [3, MEBIBYTE + 3, PIECE + 3])
async def test_without_overwrite_what_exists_is_a_conflict(blobs: Blobs, container: str, size: int) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"1" * size), overwrite=False)
    with pytest.raises(Conflict):
        await blobs.write(path, stream(b"2" * size), overwrite=False)
    assert await blobs.head(path) == first
    assert await whole(blobs.read(path)) == b"1" * size


async def test_of_many_first_writers_exactly_one_wins(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"

    async def race(number: int) -> int | None:
        try:
            await blobs.write(path, stream(str(number).encode()), overwrite=False)
        except Conflict:
            return None
        return number

    winners = [n for n in await asyncio.gather(*map(race, range(RACERS))) if n is not None]
    assert [int(await whole(blobs.read(path)))] == winners


@pytest.mark.parametrize(
    "pieces", [[b"half"], [b"x" * PIECE, b"y" * PIECE, b"z"]], ids=["one block", "many blocks"]
)
async def test_a_source_that_breaks_leaves_the_old_content(
    blobs: Blobs, container: str, pieces: list[bytes]
) -> None:
    path, fresh = f"{container}/a", f"{container}/b"
    old = await blobs.write(path, stream(b"old"))
    for target in (path, fresh):
        with pytest.raises(SourceBroke):
            await blobs.write(target, broken(*pieces))
    assert await blobs.head(path) == old
    assert await whole(blobs.read(path)) == b"old"
    assert await blobs.head(fresh) is None
    assert await paths(blobs.list(f"{container}/")) == [path]
    await blobs.write(fresh, stream(*pieces))
    assert await whole(blobs.read(fresh)) == b"".join(pieces)


async def test_readers_see_the_old_content_until_the_new_is_whole(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    await blobs.write(path, stream(b"old"))

    async def content() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b"n" * PIECE
            assert await whole(blobs.read(path)) == b"old"

    written = await blobs.write(path, content())
    assert written.size == 3 * PIECE
    assert await blobs.head(path) == written


@pytest.mark.parametrize(
    "size", [MEBIBYTE, MEBIBYTE + 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5]
)
async def test_pieces_are_at_most_4_mib_and_in_order(blobs: Blobs, container: str, size: int) -> None:
    path = f"{container}/a"
    content = (bytes(range(251)) * (size // 251 + 1))[:size]
    written = await blobs.write(path, stream(content))
    pieces = [piece async for piece in blobs.read(path)]
    assert max(map(len, pieces)) <= PIECE
    assert b"".join(pieces) == content
    assert written.size == size


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 4), (3, None), (3, 4), (8, 100), (9, 1), (10, None), (10, 5), (50, None), (50, 5), (0, 0), (4, 0)],
)
async def test_a_range_is_read_as_far_as_there_is_content(
    blobs: Blobs, container: str, offset: int, length: int | None
) -> None:
    path = f"{container}/a"
    content = b"0123456789"
    written = await blobs.write(path, stream(content))
    found = await whole(blobs.read(path, etag=written.etag, offset=offset, length=length))
    assert found == content[offset : None if length is None else offset + length]
    with pytest.raises(Conflict):
        await whole(blobs.read(path, etag="0xBAD", offset=offset, length=length))
    with pytest.raises(NotFound):
        await whole(blobs.read(f"{container}/absent", offset=offset, length=length))


async def test_a_range_may_cross_pieces(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    await blobs.write(path, stream(b"a" * PIECE, b"b" * PIECE, b"c" * PIECE))
    found = await whole(blobs.read(path, offset=PIECE - 2, length=PIECE + 4))
    assert found == b"aa" + b"b" * PIECE + b"cc"


@pytest.mark.parametrize("named", [True, False], ids=["version named", "version not named"])
async def test_a_blob_that_changes_between_pieces_is_a_conflict(
    blobs: Blobs, container: str, named: bool
) -> None:
    path = f"{container}/a"
    old = await blobs.write(path, repeated(b"o" * MEBIBYTE, 9))
    pieces = aiter(blobs.read(path, etag=old.etag if named else None))
    assert set(await anext(pieces)) == {ord("o")}
    await blobs.write(path, repeated(b"n" * MEBIBYTE, 9))
    with pytest.raises(Conflict):
        await anext(pieces)


async def test_a_copy_has_the_content_and_type_of_its_source(blobs: Blobs, container: str) -> None:
    source, target = f"{container}/a", f"{container}-copies/b"
    written = await blobs.write(source, repeated(b"line\n" * 1000, 1000), content_type="text/csv")
    await blobs.write(target, stream(b"old"))
    copied = await blobs.copy(source, target, etag=written.etag)
    assert copied == await blobs.head(target)
    assert (copied.size, copied.content_type) == (written.size, "text/csv")
    assert await whole(blobs.read(target)) == await whole(blobs.read(source))


async def test_another_version_of_the_source_is_not_copied(blobs: Blobs, container: str) -> None:
    source, target = f"{container}/a", f"{container}/b"
    accepted = await blobs.write(source, stream(b"accepted"))
    await blobs.write(source, stream(b"later"))
    with pytest.raises(Conflict):
        await blobs.copy(source, target, etag=accepted.etag)
    assert await blobs.head(target) is None


async def test_a_list_holds_what_begins_with_the_prefix_in_order(blobs: Blobs, container: str) -> None:
    for name in ("b", "a/2", "a/10", "a", "ab", "B", "é"):
        await blobs.write(f"{container}/{name}", stream(name.encode()))
    await blobs.write(f"{container}-other/a", stream(b"x"))

    async def names(prefix: str) -> list[str]:
        return [path.partition("/")[2] for path in await paths(blobs.list(f"{container}/{prefix}"))]

    assert await names("") == ["B", "a", "a/10", "a/2", "ab", "b", "é"]
    assert await names("a") == ["a", "a/10", "a/2", "ab"]
    assert await names("a/") == ["a/10", "a/2"]
    assert await names("z") == []
    assert [info.size async for info in blobs.list(f"{container}/a/")] == [4, 3]


async def test_a_list_of_a_container_that_is_not_there_is_empty(blobs: Blobs, container: str) -> None:
    assert await paths(blobs.list(f"{container}/")) == []


async def test_a_list_needs_a_container(blobs: Blobs) -> None:
    for prefix in ("", "container", "/"):
        with pytest.raises(ValueError, match="container"):
            await paths(blobs.list(prefix))


async def test_leave_to_upload_says_how_and_how_long(blobs: Blobs, container: str) -> None:
    before = datetime.now(UTC)
    leave = await blobs.upload_url(f"{container}/a b", valid_for=timedelta(minutes=10))
    assert leave.headers == {"x-ms-blob-type": "BlockBlob"}
    assert f"{container}/a%20b" in leave.url
    assert timedelta(minutes=9) < leave.expires_at - before < timedelta(minutes=11)
    assert await blobs.head(f"{container}/a b") is None


async def test_content_may_come_in_pieces_of_any_size(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"

    async def uneven() -> AsyncIterator[bytes]:
        yield b"a" * (2 * PIECE + 7)
        yield b""
        for _ in range(1000):
            yield b"bc"

    await blobs.write(path, uneven())
    assert await whole(blobs.read(path)) == b"a" * (2 * PIECE + 7) + b"bc" * 1000


async def test_one_blob_can_be_streamed_into_another(blobs: Blobs, container: str) -> None:
    source = await blobs.write(f"{container}/a", repeated(b"x" * MEBIBYTE, 9))
    copied: AsyncIterable[bytes] = blobs.read(source.path, etag=source.etag)
    assert (await blobs.write(f"{container}/b", copied)).size == source.size
    with pytest.raises(NotFound):
        await blobs.write(f"{container}/b", blobs.read(f"{container}/absent"))


@pytest.mark.parametrize("size", [3, MEBIBYTE + 3, PIECE + 3])
async def test_a_write_under_a_version_replaces_that_version_only(
    blobs: Blobs, container: str, size: int
) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"1"))
    second = await blobs.write(path, stream(b"2" * size), if_etag=first.etag)
    with pytest.raises(Conflict):
        await blobs.write(path, stream(b"3" * size), if_etag=first.etag)
    assert await blobs.head(path) == second
    assert await whole(blobs.read(path)) == b"2" * size


async def test_a_write_under_a_version_of_what_is_gone_is_a_conflict(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"1"))
    await blobs.delete(path)
    with pytest.raises(Conflict):
        await blobs.write(path, stream(b"2"), if_etag=first.etag)
    assert await blobs.head(path) is None


async def test_of_many_writers_under_one_version_exactly_one_wins(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"first"))

    async def race(number: int) -> int | None:
        try:
            await blobs.write(path, stream(str(number).encode()), if_etag=first.etag)
        except Conflict:
            return None
        return number

    winners = [n for n in await asyncio.gather(*map(race, range(RACERS))) if n is not None]
    assert [int(await whole(blobs.read(path)))] == winners


async def test_only_the_version_that_is_named_is_deleted(blobs: Blobs, container: str) -> None:
    path = f"{container}/a"
    first = await blobs.write(path, stream(b"1"))
    second = await blobs.write(path, stream(b"2"))
    with pytest.raises(Conflict):
        await blobs.delete(path, etag=first.etag)
    assert await blobs.head(path) == second
    await blobs.delete(path, etag=second.etag)
    assert await blobs.head(path) is None
    await blobs.delete(path, etag=second.etag)


@pytest.mark.parametrize("size", [3, PIECE + 3])
async def test_metadata_comes_back_from_a_look_and_not_from_a_listing(
    blobs: Blobs, container: str, size: int
) -> None:
    path = f"{container}/a"
    written = await blobs.write(path, stream(b"x" * size), metadata={"project": "red tape", "run_id": "7"})
    found = await blobs.head(path)
    assert found == written
    assert found.metadata == {"project": "red tape", "run_id": "7"}
    assert [info.metadata async for info in blobs.list(path)] == [{}]


async def test_pages_make_up_the_listing(blobs: Blobs, container: str) -> None:
    names = sorted(["a b", "a%20b", "a#b", "deep/1", "deep/2", "é", "z"])
    for name in names:
        await blobs.write(f"{container}/{name}", stream(b"x"))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = await blobs.page(f"{container}/", cursor=cursor, limit=2)
        assert len(page.blobs) <= 2
        seen += [info.path for info in page.blobs]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == await paths(blobs.list(f"{container}/"))
    assert len(seen) == len(names)


async def test_where_nothing_is_the_page_is_the_last(blobs: Blobs, container: str) -> None:
    page = await blobs.page(f"{container}/")
    assert (page.blobs, page.cursor) == ((), None)


async def test_a_blob_has_an_address_that_names_it(blobs: Blobs, container: str) -> None:
    address = blobs.url(f"{container}/a folder/b.json")

    assert address.startswith("http")
    assert address.endswith(f"/{container}/a%20folder/b.json")

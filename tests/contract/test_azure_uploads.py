"""Leave to upload, and large streams, against Azurite itself."""

import logging
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from aiohttp import ClientSession
from yarl import URL

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.memory.clock import FixedClock
from shared.domain.errors import TryAgainLater
from tests.support.azurite import ACCOUNT_KEY, Azurite
from tests.support.streams import repeated, stream, whole

pytestmark = pytest.mark.azurite

MEBIBYTE = 1024 * 1024
TEN_MINUTES = timedelta(minutes=10)
BLOCK_BLOB = {"x-ms-blob-type": "BlockBlob"}


@pytest.fixture
async def storage(azurite: Azurite) -> AsyncIterator[StorageConnection]:
    storage = StorageConnection(StorageAccount(connection_string=azurite.connection_string))
    yield storage
    await storage.close()


@pytest.fixture
def blobs(storage: StorageConnection) -> AzureBlobs:
    return AzureBlobs(storage, SystemClock())


@pytest.fixture
def container() -> str:
    return f"c-{uuid4().hex}"


async def ask(method: str, url: str, headers: Mapping[str, str], content: bytes | None = None) -> int:
    """The status of one plain HTTP request, with nothing but what the address itself allows."""
    async with (
        ClientSession() as session,
        session.request(method, URL(url, encoded=True), headers=headers, data=content) as answer,
    ):
        return answer.status


@pytest.mark.parametrize("name", ["a", "with space/ü+%20#[1]?.jsonl"])
async def test_the_holder_of_leave_may_write_the_blob(blobs: AzureBlobs, container: str, name: str) -> None:
    path = f"{container}/{name}"
    leave = await blobs.upload_url(path, valid_for=TEN_MINUTES)
    assert await ask("PUT", leave.url, leave.headers, b"first") == 201
    assert await ask("PUT", leave.url, leave.headers, b"second") == 201
    assert await whole(blobs.read(path)) == b"second"


async def test_the_holder_of_leave_may_write_it_in_blocks(blobs: AzureBlobs, container: str) -> None:
    leave = await blobs.upload_url(f"{container}/a", valid_for=TEN_MINUTES)
    assert await ask("PUT", f"{leave.url}&comp=block&blockid=MDAw", {}, b"block") == 201
    listed = b"<BlockList><Latest>MDAw</Latest></BlockList>"
    assert await ask("PUT", f"{leave.url}&comp=blocklist", {}, listed) == 201
    assert await whole(blobs.read(f"{container}/a")) == b"block"


async def test_leave_allows_nothing_else(blobs: AzureBlobs, container: str) -> None:
    await blobs.write(f"{container}/mine", stream(b"mine"))
    await blobs.write(f"{container}/other", stream(b"other"))
    leave = await blobs.upload_url(f"{container}/mine", valid_for=TEN_MINUTES)
    elsewhere = leave.url.replace("/mine?", "/other?")
    assert elsewhere != leave.url
    assert await ask("GET", leave.url, {}) == 403
    assert await ask("HEAD", leave.url, {}) == 403
    assert await ask("DELETE", leave.url, {}) == 403
    assert await ask("PUT", elsewhere, BLOCK_BLOB, b"stolen") == 403
    assert await ask("GET", leave.url.replace("/mine?", "?restype=container&comp=list&"), {}) == 403
    assert await whole(blobs.read(f"{container}/mine")) == b"mine"
    assert await whole(blobs.read(f"{container}/other")) == b"other"


async def test_leave_ends(storage: StorageConnection, container: str) -> None:
    an_hour_ago = FixedClock(datetime.now(UTC) - timedelta(hours=1))
    leave = await AzureBlobs(storage, an_hour_ago).upload_url(f"{container}/a", valid_for=TEN_MINUTES)
    assert await ask("PUT", leave.url, leave.headers, b"late") == 403


async def test_64_mib_pass_both_ways_in_flat_memory(blobs: AzureBlobs, container: str) -> None:
    path = f"{container}/large"
    size = 64 * MEBIBYTE
    await blobs.write(path, stream(b"warm up"))
    tracemalloc.start()
    try:
        written = await blobs.write(path, repeated(b"x" * MEBIBYTE, 64))
        _, while_writing = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        read = 0
        async for piece in blobs.read(path, etag=written.etag):
            read += len(piece)
        _, while_reading = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (written.size, read) == (size, size)
    assert while_writing < 24 * MEBIBYTE
    assert while_reading < 20 * MEBIBYTE


async def test_of_two_writers_at_once_the_blob_is_one_of_theirs(blobs: AzureBlobs, container: str) -> None:
    path = f"{container}/a"

    async def overtaken() -> AsyncIterator[bytes]:
        yield b"a" * 9 * MEBIBYTE
        await blobs.write(path, repeated(b"b" * MEBIBYTE, 9))
        yield b"a"

    with pytest.raises(TryAgainLater):
        await blobs.write(path, overtaken())
    assert set(await whole(blobs.read(path))) == {ord("b")}


async def test_no_key_and_no_signature_is_logged(
    blobs: AzureBlobs, container: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = f"{container}/a"
    with caplog.at_level(logging.DEBUG):
        leave = await blobs.upload_url(path, valid_for=TEN_MINUTES)
        written = await blobs.write(path, repeated(b"secret words " * 1000, 200))
        await blobs.copy(path, f"{container}/b", etag=written.etag)
        await whole(blobs.read(path))
    signature = leave.url.partition("sig=")[2]
    assert signature
    logged = "\n".join(str(record.__dict__) for record in caplog.records)
    assert "azure" not in {record.name.partition(".")[0] for record in caplog.records}
    for secret in (ACCOUNT_KEY, signature, "secret words", "SharedKey"):
        assert secret not in logged


def test_a_secret_is_not_in_a_connections_text(azurite: Azurite) -> None:
    account = StorageAccount(connection_string=azurite.connection_string)
    assert ACCOUNT_KEY not in repr(account)

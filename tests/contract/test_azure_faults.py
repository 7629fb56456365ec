"""What comes out of storage when the network, or the service, does not do as it should."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from aiohttp import web

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.azure.tables import AzureTables
from shared.adapters.azure.uploads import BLOCKS_IN_FLIGHT
from shared.domain.errors import Conflict, NotAdmitted, TryAgainLater
from tests.support.azurite import ACCOUNT_KEY, Azurite, connection_string
from tests.support.proxy import Proxy, proxy_before
from tests.support.streams import repeated, stream, whole

pytestmark = pytest.mark.azurite

MEBIBYTE = 1024 * 1024


@pytest.fixture
async def blob_proxy(azurite: Azurite) -> AsyncIterator[Proxy]:
    async with proxy_before(azurite.blob_url) as proxy:
        yield proxy


@pytest.fixture
async def table_proxy(azurite: Azurite) -> AsyncIterator[Proxy]:
    async with proxy_before(azurite.table_url) as proxy:
        yield proxy


@pytest.fixture
async def storage(blob_proxy: Proxy, table_proxy: Proxy) -> AsyncIterator[StorageConnection]:
    text = connection_string(blob_url=blob_proxy.address, table_url=table_proxy.address)
    storage = StorageConnection(StorageAccount(connection_string=text), retries=1)
    yield storage
    await storage.close()


@pytest.fixture
def tables(storage: StorageConnection) -> AzureTables:
    return AzureTables(storage)


@pytest.fixture
def blobs(storage: StorageConnection) -> AzureBlobs:
    return AzureBlobs(storage, SystemClock())


@pytest.fixture
def table() -> str:
    return f"t{uuid4().hex}"


@pytest.fixture
def container() -> str:
    return f"c-{uuid4().hex}"


def anything(request: web.Request) -> bool:
    return True


def is_write(request: web.Request) -> bool:
    return request.method in {"PUT", "POST", "PATCH", "MERGE", "DELETE"}


def is_block(request: web.Request) -> bool:
    return request.query.get("comp") == "block"


def is_commit(request: web.Request) -> bool:
    return request.query.get("comp") == "blocklist"


async def test_an_insert_whose_answer_was_lost_is_there(
    tables: AzureTables, table: str, table_proxy: Proxy
) -> None:
    await tables.put(table, "job", "0", {"n": 0})
    table_proxy.lose_answer(is_write)
    with pytest.raises((TryAgainLater, Conflict)):
        await tables.insert(table, "job", "1", {"n": 1})
    found = await tables.get(table, "job", "1")
    assert found is not None
    with pytest.raises(Conflict):
        await tables.insert(table, "job", "1", {"n": 1})


async def test_a_replace_whose_answer_was_lost_is_a_conflict(
    tables: AzureTables, table: str, table_proxy: Proxy
) -> None:
    entity = await tables.insert(table, "job", "1", {"n": 1})
    table_proxy.lose_answer(is_write)
    with pytest.raises(Conflict):
        await tables.replace(table, entity, {"n": 2})
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert found.fields == {"n": 2}


async def test_a_put_and_a_delete_whose_answers_were_lost_succeed(
    tables: AzureTables, table: str, table_proxy: Proxy
) -> None:
    entity = await tables.insert(table, "job", "1", {"n": 1})
    table_proxy.lose_answer(is_write)
    await tables.put(table, "job", "2", {"n": 2})
    table_proxy.lose_answer(is_write)
    await tables.delete(table, "job", "1", etag=entity.etag)
    assert [entity.row async for entity in tables.scan(table, "job")] == ["2"]


async def test_a_busy_service_means_again_later(
    tables: AzureTables, blobs: AzureBlobs, table: str, container: str, blob_proxy: Proxy, table_proxy: Proxy
) -> None:
    for proxy in (blob_proxy, table_proxy):
        proxy.answer(503, anything, times=100)
    for verb in (
        tables.get(table, "job", "1"),
        tables.insert(table, "job", "1", {}),
        blobs.head(f"{container}/a"),
        blobs.write(f"{container}/a", stream(b"x")),
        blobs.write(f"{container}/a", repeated(b"x" * MEBIBYTE, 6)),
    ):
        with pytest.raises(TryAgainLater):
            await verb


async def test_nobody_listening_means_again_later(azurite: Azurite) -> None:
    async with proxy_before(azurite.blob_url) as proxy:
        gone = proxy.address
    text = connection_string(blob_url=gone, table_url=gone)
    storage = StorageConnection(StorageAccount(connection_string=text), retries=0)
    for verb in (
        AzureTables(storage).get("jobs", "job", "1"),
        AzureBlobs(storage, SystemClock()).head("jobs/a"),
    ):
        with pytest.raises(TryAgainLater):
            await verb
    await storage.close()


async def test_a_wrong_key_is_for_the_operator_and_is_not_told(azurite: Azurite, container: str) -> None:
    other_key = ACCOUNT_KEY.swapcase()
    text = azurite.connection_string.replace(ACCOUNT_KEY, other_key)
    storage = StorageConnection(StorageAccount(connection_string=text), retries=0)
    with pytest.raises(NotAdmitted, match=container) as caught:
        await AzureBlobs(storage, SystemClock()).head(f"{container}/a")
    assert caught.value.__cause__ is None
    assert other_key not in str(caught.value)
    await storage.close()


async def test_every_block_is_sent_again_whole(blobs: AzureBlobs, container: str, blob_proxy: Proxy) -> None:
    path = f"{container}/a"
    content = bytes(range(256)) * 4096 * 9
    blob_proxy.answer(500, is_block)
    blob_proxy.lose_answer(is_block)
    written = await blobs.write(path, stream(content))
    assert written.size == len(content)
    assert await whole(blobs.read(path, etag=written.etag)) == content


async def test_a_commit_whose_answer_was_lost_is_repeated(
    blobs: AzureBlobs, container: str, blob_proxy: Proxy
) -> None:
    blob_proxy.lose_answer(is_commit)
    written = await blobs.write(f"{container}/a", repeated(b"x" * MEBIBYTE, 9))
    assert await blobs.head(f"{container}/a") == written


async def test_a_block_that_cannot_be_sent_leaves_the_old_content(
    blobs: AzureBlobs, container: str, blob_proxy: Proxy
) -> None:
    path = f"{container}/a"
    old = await blobs.write(path, stream(b"old"))
    blob_proxy.answer(500, is_block, times=100)
    with pytest.raises(TryAgainLater):
        await blobs.write(path, repeated(b"x" * MEBIBYTE, 40))
    assert await blobs.head(path) == old
    # It stopped at once, and did not read the source to its end.
    assert sum("comp=block&" in line for line in blob_proxy.seen) < 10


async def test_few_blocks_are_on_their_way_at_once(
    blobs: AzureBlobs, container: str, blob_proxy: Proxy
) -> None:
    await blobs.write(f"{container}/a", repeated(b"x" * MEBIBYTE, 40))
    assert 1 < blob_proxy.at_once <= BLOCKS_IN_FLIGHT


async def test_a_read_goes_on_after_a_lost_piece(
    blobs: AzureBlobs, container: str, blob_proxy: Proxy
) -> None:
    path = f"{container}/a"
    content = bytes(range(256)) * 4096 * 9
    await blobs.write(path, stream(content))
    pieces = aiter(blobs.read(path))
    first = await anext(pieces)
    blob_proxy.lose_answer(lambda request: request.method == "GET")
    assert first + await whole(pieces) == content


async def test_what_is_there_already_costs_one_request(
    tables: AzureTables, blobs: AzureBlobs, table: str, container: str, blob_proxy: Proxy, table_proxy: Proxy
) -> None:
    await tables.put(table, "job", "1", {"n": 1})
    await blobs.write(f"{container}/a", stream(b"x"))
    for proxy in (blob_proxy, table_proxy):
        proxy.seen.clear()
    await tables.put(table, "job", "2", {"n": 1})
    await blobs.write(f"{container}/b", stream(b"x"))
    assert [len(proxy.seen) for proxy in (blob_proxy, table_proxy)] == [1, 1]


async def test_no_proxy_of_the_environment_stands_before_loopback(
    azurite: Azurite, container: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    storage = StorageConnection(StorageAccount(connection_string=azurite.connection_string), retries=0)
    await AzureBlobs(storage, SystemClock()).write(f"{container}/a", stream(b"x"))
    await AzureTables(storage).get("jobs", "job", "1")
    await storage.close()

"""Storage without keys: bearer tokens over TLS, and leave to upload on behalf of the identity."""

import ssl
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from aiohttp import ClientSession
from yarl import URL

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.azure.tables import AzureTables
from tests.support.azurite import Azurite
from tests.support.identity import OBJECT, LocalCredential
from tests.support.streams import repeated, stream, whole

pytestmark = pytest.mark.azurite

TEN_MINUTES = timedelta(minutes=10)


@pytest.fixture
async def storage(secure_azurite: tuple[Azurite, Path]) -> AsyncIterator[StorageConnection]:
    azurite, certificate = secure_azurite
    account = StorageAccount(blob_url=azurite.blob_url, table_url=azurite.table_url)
    storage = StorageConnection(account, retries=0, make_credential=LocalCredential, ca_file=str(certificate))
    yield storage
    await storage.close()


@pytest.fixture
def blobs(storage: StorageConnection) -> AzureBlobs:
    return AzureBlobs(storage, SystemClock())


@pytest.fixture
def container() -> str:
    return f"c-{uuid4().hex}"


async def test_blobs_are_reached_by_identity(blobs: AzureBlobs, container: str) -> None:
    written = await blobs.write(f"{container}/a", repeated(b"x" * 1024 * 1024, 6))
    copied = await blobs.copy(f"{container}/a", f"{container}/b", etag=written.etag)
    assert copied.size == written.size
    assert [info.path async for info in blobs.list(f"{container}/")] == [f"{container}/a", f"{container}/b"]


async def test_tables_are_reached_by_identity(storage: StorageConnection) -> None:
    table = f"t{uuid4().hex}"
    entity = await AzureTables(storage).insert(table, "job", "1", {"n": 1})
    assert await AzureTables(storage).get(table, "job", "1") == entity


async def test_leave_is_signed_on_behalf_of_the_identity(
    blobs: AzureBlobs, container: str, secure_azurite: tuple[Azurite, Path]
) -> None:
    path = f"{container}/a b"
    leave = await blobs.upload_url(path, valid_for=TEN_MINUTES)
    query = parse_qs(urlsplit(leave.url).query)
    assert (query["skoid"], query["sp"], query["sr"], query["spr"]) == ([OBJECT], ["cw"], ["b"], ["https"])
    trust = ssl.create_default_context(cafile=secure_azurite[1])
    url = URL(leave.url, encoded=True)
    async with ClientSession() as session:
        async with session.put(url, data=b"content", headers=leave.headers, ssl=trust) as answer:
            assert answer.status == 201
        async with session.get(url, ssl=trust) as answer:
            assert answer.status == 403
    assert await whole(blobs.read(path)) == b"content"


async def test_one_delegation_key_serves_many_leaves(blobs: AzureBlobs, container: str) -> None:
    leaves = [await blobs.upload_url(f"{container}/{n}", valid_for=TEN_MINUTES) for n in range(3)]
    keys = {tuple(parse_qs(urlsplit(leave.url).query)["ske"]) for leave in leaves}
    assert len(keys) == 1
    longer = await blobs.upload_url(f"{container}/long", valid_for=timedelta(days=3))
    assert parse_qs(urlsplit(longer.url).query)["ske"] >= parse_qs(urlsplit(longer.url).query)["se"]


async def test_leave_of_more_than_a_week_is_refused(blobs: AzureBlobs, container: str) -> None:
    with pytest.raises(ValueError, match="7 days"):
        await blobs.upload_url(f"{container}/a", valid_for=timedelta(days=8))


async def test_one_credential_serves_blobs_and_tables(secure_azurite: tuple[Azurite, Path]) -> None:
    azurite, certificate = secure_azurite
    credential = LocalCredential()
    storage = StorageConnection(
        StorageAccount(blob_url=azurite.blob_url, table_url=azurite.table_url),
        make_credential=lambda: credential,
        ca_file=str(certificate),
    )
    await AzureBlobs(storage, SystemClock()).write(f"c-{uuid4().hex}/a", stream(b"x"))
    await AzureTables(storage).get("jobs", "job", "1")
    await storage.close()
    assert set(credential.scopes) == {"https://storage.azure.com/.default"}

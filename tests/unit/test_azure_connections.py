"""How settings say where storage and topics are, and who we are there."""

import asyncio

import pytest

from shared.adapters.azure.connections import (
    EventTopic,
    Identity,
    PerLoop,
    StorageAccount,
    StorageConnection,
    read_storage,
    read_topic,
)

CONNECTION_STRING = "AccountName=a;AccountKey=c2VjcmV0;BlobEndpoint=http://127.0.0.1:1/a"


def test_a_connection_string_wins() -> None:
    settings = {"Storage": CONNECTION_STRING, "Storage__blobServiceUri": "https://a.blob.core.windows.net"}
    assert read_storage(settings, "Storage") == StorageAccount(connection_string=CONNECTION_STRING)


def test_addresses_are_reached_by_identity() -> None:
    settings = {
        "Storage__blobServiceUri": "https://a.blob.core.windows.net",
        "Storage__tableServiceUri": "https://a.table.core.windows.net",
        "Storage__credential": "managedidentity",
        "Storage__clientId": "client-1",
    }
    assert read_storage(settings, "Storage") == StorageAccount(
        blob_url="https://a.blob.core.windows.net",
        table_url="https://a.table.core.windows.net",
        identity=Identity(client_id="client-1", managed=True),
    )


def test_an_account_name_is_an_address_in_the_public_cloud() -> None:
    account = read_storage({"Storage__accountName": "a"}, "Storage")
    assert (account.blob_url, account.table_url) == (
        "https://a.blob.core.windows.net",
        "https://a.table.core.windows.net",
    )
    assert account.identity == Identity()


@pytest.mark.parametrize(
    "settings", [{}, {"Storage": ""}, {"Storage__blobServiceUri": "https://a.blob.core.windows.net"}]
)
def test_settings_that_do_not_say_where_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="set Storage"):
        read_storage(settings, "Storage")


def test_a_topic_has_an_address_and_a_key_or_an_identity() -> None:
    settings = {
        "Events__topicEndpointUri": "https://t.westeurope-1.eventgrid.azure.net/api/events",
        "Events__clientId": "client-1",
    }
    by_identity = read_topic(settings, "Events")
    assert by_identity == EventTopic(
        endpoint=settings["Events__topicEndpointUri"], identity=Identity(client_id="client-1")
    )
    by_key = read_topic(settings | {"Events__topicKey": "secret"}, "Events")
    assert by_key is not None
    assert by_key.key == "secret"
    assert "secret" not in repr(by_key)


def test_no_topic_is_no_topic() -> None:
    assert read_topic({"Events__topicEndpointUri": ""}, "Events") is None


def test_a_topic_is_never_reached_in_the_clear_except_on_loopback() -> None:
    EventTopic(endpoint="http://127.0.0.1:7081/_sim/events/publish")
    with pytest.raises(ValueError, match="https"):
        EventTopic(endpoint="http://example.com/api/events")


@pytest.mark.parametrize(
    ("account", "local"),
    [
        (StorageAccount(connection_string=CONNECTION_STRING), True),
        (StorageAccount(connection_string="AccountName=a;AccountKey=c2VjcmV0"), False),
        (StorageAccount(blob_url="http://localhost:10000/a"), True),
        (StorageAccount(blob_url="https://a.blob.core.windows.net"), False),
    ],
)
def test_an_account_on_loopback_is_local(account: StorageAccount, local: bool) -> None:
    assert account.is_local is local


class _Client:
    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_every_loop_has_one_client_of_its_own() -> None:
    clients = PerLoop(_Client)

    async def use() -> tuple[_Client, _Client]:
        return clients.here(), clients.here()

    first, again = asyncio.run(use())
    other, _ = asyncio.run(use())
    assert first is again
    assert first is not other


async def test_a_closed_client_is_replaced_when_it_is_needed_again() -> None:
    clients = PerLoop(_Client)
    await clients.close()
    first = clients.here()
    await clients.close()
    await clients.close()
    assert first.closed == 1
    assert clients.here() is not first


def test_making_a_connection_needs_no_loop_and_no_network() -> None:
    StorageConnection(StorageAccount(blob_url="https://nowhere.invalid", table_url="https://nowhere.invalid"))


async def test_without_an_account_key_leave_cannot_be_signed() -> None:
    text = "BlobEndpoint=http://127.0.0.1:1/a;SharedAccessSignature=sv=2024-01-01&sig=x"
    storage = StorageConnection(StorageAccount(connection_string=text))
    with pytest.raises(ValueError, match="AccountKey"):
        storage.account_key()
    await storage.close()

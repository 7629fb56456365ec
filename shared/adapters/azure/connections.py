"""From settings to SDK clients.

Storage and topics are named as Azure Functions names its connections: `NAME` holds a connection string, or
`NAME__blobServiceUri` and `NAME__tableServiceUri` (or `NAME__accountName`) give addresses that are reached
by identity, with `NAME__credential` (`managedidentity`) and `NAME__clientId` to say which one.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from azure.core.credentials import AzureKeyCredential
from azure.core.credentials_async import AsyncTokenCredential
from azure.data.tables.aio import TableServiceClient
from azure.eventgrid.aio import EventGridPublisherClient
from azure.identity.aio import DefaultAzureCredential, ManagedIdentityCredential
from azure.storage.blob.aio import BlobServiceClient, ExponentialRetry

PIECE_BYTES = 4 * 1024 * 1024
_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the app is. `managed`: only ever the managed identity, no developer's login."""

    client_id: str | None = None
    managed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAccount:
    """A storage account, by connection string or by addresses. The secret stays out of `repr`."""

    connection_string: str | None = field(default=None, repr=False)
    blob_url: str | None = None
    table_url: str | None = None
    identity: Identity = Identity()

    @property
    def is_local(self) -> bool:
        if self.connection_string is None:
            return _is_loopback(self.blob_url or "")
        parts = self.connection_string.split(";")
        return any(_is_loopback(part.removeprefix("BlobEndpoint=")) for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTopic:
    """An Event Grid topic. Without `key` the identity is used."""

    endpoint: str
    key: str | None = field(default=None, repr=False)
    identity: Identity = Identity()

    def __post_init__(self) -> None:
        if not (self.endpoint.startswith("https://") or _is_loopback(self.endpoint)):
            raise ValueError(f"topic endpoint {self.endpoint!r} is neither https nor on loopback")


def read_storage(settings: Mapping[str, str], name: str) -> StorageAccount:
    """The account that the settings call `name`. Raise `ValueError` if they do not say where it is."""
    if connection_string := settings.get(name):
        return StorageAccount(connection_string=connection_string)
    blob_url = settings.get(f"{name}__blobServiceUri") or _address(settings, name, "blob")
    table_url = settings.get(f"{name}__tableServiceUri") or _address(settings, name, "table")
    if not (blob_url and table_url):
        raise ValueError(f"set {name} (a connection string), or {name}__blobServiceUri and __tableServiceUri")
    return StorageAccount(blob_url=blob_url, table_url=table_url, identity=_identity(settings, name))


def read_topic(settings: Mapping[str, str], name: str) -> EventTopic | None:
    """The topic at `NAME__topicEndpointUri`, with `NAME__topicKey` if there is one. None: no topic is set."""
    endpoint = settings.get(f"{name}__topicEndpointUri")
    if not endpoint:
        return None
    key = settings.get(f"{name}__topicKey") or None
    return EventTopic(endpoint=endpoint, key=key, identity=_identity(settings, name))


class _Closable(Protocol):
    async def close(self) -> None: ...


class PerLoop[Client: _Closable]:
    """One client for each event loop, made when it is first asked for: sessions cannot cross loops."""

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = WeakKeyDictionary()

    def here(self) -> Client:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._make()
        return client

    async def close(self) -> None:
        """Close the running loop's client, if there is one. A later use makes a new one."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


class StorageConnection:
    """The clients of one storage account. Costs nothing until the first use.

    A call that fails for a passing reason is repeated `retries` times, over some seconds. `make_credential`
    replaces the account's identity; `ca_file` is trusted in place of the system's authorities.
    """

    def __init__(
        self,
        account: StorageAccount,
        *,
        retries: int = 3,
        make_credential: Callable[[], AsyncTokenCredential] | None = None,
        ca_file: str | None = None,
    ) -> None:
        quiet_sdk_logs()
        self._account = account
        self._options: dict[str, Any] = {
            "connection_timeout": _CONNECT_SECONDS,
            "read_timeout": _READ_SECONDS,
            "connection_verify": ca_file or True,
            "use_env_settings": not account.is_local,  # no proxy stands between us and loopback
        }
        self._retries = retries
        self._credential = PerLoop(make_credential or (lambda: credential_of(account.identity)))
        self.blobs = PerLoop(self._blob_service)
        self.tables = PerLoop(self._table_service)

    def account_key(self) -> str | None:
        """The account's key; None with an identity. Raise `ValueError` if there is neither."""
        if not self._account.connection_string:
            return None
        key = getattr(self.blobs.here().credential, "account_key", None)
        if not key:
            raise ValueError("the storage connection string holds no AccountKey: it cannot sign upload leave")
        return str(key)

    async def close(self) -> None:
        """Close what the running loop has opened."""
        await self.blobs.close()
        await self.tables.close()
        await self._credential.close()

    def _blob_service(self) -> BlobServiceClient:
        options = self._options | {
            "retry_policy": ExponentialRetry(
                initial_backoff=1, increment_base=2, retry_total=self._retries, random_jitter_range=1
            ),
            "max_single_get_size": PIECE_BYTES,
            "max_chunk_get_size": PIECE_BYTES,
        }
        if self._account.connection_string:
            return BlobServiceClient.from_connection_string(self._account.connection_string, **options)
        return BlobServiceClient(self._account.blob_url or "", self._credential.here(), **options)

    def _table_service(self) -> TableServiceClient:
        options = self._options | {
            "retry_total": self._retries,
            "retry_backoff_factor": 0.4,
            "retry_backoff_max": 10,
        }
        if self._account.connection_string:
            return TableServiceClient.from_connection_string(self._account.connection_string, **options)
        return TableServiceClient(
            self._account.table_url or "", credential=self._credential.here(), **options
        )


class TopicConnection:
    """The client of one Event Grid topic. Costs nothing until the first use."""

    def __init__(self, topic: EventTopic) -> None:
        quiet_sdk_logs()
        self._topic = topic
        self._credential = PerLoop(lambda: credential_of(topic.identity))
        self.publisher = PerLoop(self._publisher)

    async def close(self) -> None:
        """Close what the running loop has opened."""
        await self.publisher.close()
        await self._credential.close()

    def _publisher(self) -> EventGridPublisherClient:
        key = self._topic.key
        return EventGridPublisherClient(
            self._topic.endpoint,
            AzureKeyCredential(key) if key else self._credential.here(),
            # Few and short: what is not taken stays in the outbox and is sent again by the sweep.
            retry_total=2,
            retry_backoff_max=5,
            connection_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            use_env_settings=not _is_loopback(self._topic.endpoint),
        )


def quiet_sdk_logs() -> None:
    """Keep requests out of the logs, whatever the root level: their addresses may carry signatures."""
    names = ("core", "storage", "data", "eventgrid", "identity", "servicebus")
    for name in (*(f"azure.{name}" for name in names), "msal"):
        logging.getLogger(name).setLevel(logging.WARNING)


def credential_of(identity: Identity) -> DefaultAzureCredential | ManagedIdentityCredential:
    if identity.managed:
        return ManagedIdentityCredential(client_id=identity.client_id)
    return DefaultAzureCredential(managed_identity_client_id=identity.client_id)


def _identity(settings: Mapping[str, str], name: str) -> Identity:
    return Identity(
        client_id=settings.get(f"{name}__clientId") or None,
        managed=settings.get(f"{name}__credential", "").lower() == "managedidentity",
    )


def _address(settings: Mapping[str, str], name: str, service: str) -> str | None:
    account = settings.get(f"{name}__accountName")
    return f"https://{account}.{service}.core.windows.net" if account else None


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in _LOOPBACK

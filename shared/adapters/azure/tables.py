"""Tables on Azure Table Storage."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.data.tables import EdmType, EntityProperty, TableEntity, UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient

from shared.adapters.azure.connections import StorageConnection
from shared.adapters.azure.errors import azure_errors, translate_each
from shared.adapters.limits import check_entity, check_key, check_table
from shared.domain.errors import Conflict, NotFound
from shared.ports.tables import Entity, Fields, Value

PAGE_ROWS = 200
_KEYS = ("PartitionKey", "RowKey")


class AzureTables:
    """A table is created when the first row is written; until then it is empty."""

    def __init__(self, storage: StorageConnection) -> None:
        self._storage = storage
        # Making one costs as much as a tenth of a request.
        self._clients: WeakKeyDictionary[TableServiceClient, dict[str, TableClient]] = WeakKeyDictionary()

    async def get(self, table: str, partition: str, row: str) -> Entity | None:
        check_key(partition)
        check_key(row)
        try:
            with azure_errors(f"row {row!r} of {table!r}"):
                return _to_entity(await self._client(table).get_entity(partition, row))
        except NotFound:
            return None

    async def insert(self, table: str, partition: str, row: str, fields: Fields) -> Entity:
        sent = _to_sdk(partition, row, fields)
        client = self._client(table)
        with azure_errors(f"row {row!r} of {table!r}"):
            answer = await _with_table(client, lambda: client.create_entity(sent))
        return _stored(partition, row, fields, answer)

    async def replace(self, table: str, entity: Entity, fields: Fields) -> Entity:
        sent = _to_sdk(entity.partition, entity.row, fields)
        try:
            with azure_errors(f"row {entity.row!r} of {table!r}"):
                answer = await self._client(table).update_entity(
                    sent,
                    mode=UpdateMode.REPLACE,
                    etag=entity.etag,
                    match_condition=MatchConditions.IfNotModified,
                )
        except NotFound as exc:
            raise Conflict(f"row {entity.row!r} of {table!r} is gone") from exc
        return _stored(entity.partition, entity.row, fields, answer)

    async def put(self, table: str, partition: str, row: str, fields: Fields) -> None:
        sent = _to_sdk(partition, row, fields)
        client = self._client(table)
        with azure_errors(f"row {row!r} of {table!r}"):
            await _with_table(client, lambda: client.upsert_entity(sent, mode=UpdateMode.REPLACE))

    async def delete(self, table: str, partition: str, row: str, *, etag: str | None = None) -> None:
        check_key(partition)
        check_key(row)
        client = self._client(table)
        # The SDK takes absence for success by itself.
        with azure_errors(f"row {row!r} of {table!r}"):
            if etag is None:
                await client.delete_entity(partition, row)
            else:
                await client.delete_entity(
                    partition, row, etag=etag, match_condition=MatchConditions.IfNotModified
                )

    async def scan(
        self, table: str, partition: str, *, start: str = "", stop: str | None = None
    ) -> AsyncIterator[Entity]:
        check_key(partition)
        wanted, parameters = _range(partition, start, stop)
        found = self._client(table).query_entities(wanted, parameters=parameters, results_per_page=PAGE_ROWS)
        try:
            async for entity in translate_each(aiter(found), f"rows of {table!r}"):
                yield _to_entity(entity)
        except NotFound:
            return  # no table yet

    def _client(self, table: str) -> TableClient:
        check_table(table)
        service = self._storage.tables.here()
        clients = self._clients.setdefault(service, {})
        if table not in clients:
            clients[table] = service.get_table_client(table)
        return clients[table]


async def _with_table[Answer](client: TableClient, write: Callable[[], Awaitable[Answer]]) -> Answer:
    """Do `write`; if it misses its table, create the table and do it once more.

    Trying first costs nothing when the table is there, and asks for no right to create tables.
    """
    try:
        return await write()
    except ResourceNotFoundError:
        with suppress(ResourceExistsError):  # another writer was faster
            await client.create_table()
    return await write()


def _range(partition: str, start: str, stop: str | None) -> tuple[str, dict[str, str]]:
    wanted, parameters = "PartitionKey eq @partition", {"partition": partition}
    if start:
        wanted, parameters["start"] = f"{wanted} and RowKey ge @start", start
    if stop is not None:
        wanted, parameters["stop"] = f"{wanted} and RowKey lt @stop", stop
    return wanted, parameters


def _to_sdk(partition: str, row: str, fields: Fields) -> dict[str, object]:
    check_entity(partition, row, fields)
    sent: dict[str, object] = {name: _as_property(value) for name, value in fields.items()}
    return sent | {"PartitionKey": partition, "RowKey": row}


def _as_property(value: Value) -> object:
    match value:
        case bool():
            return value
        case int():
            # Always 64 bits: one width for a field, however small its first value was.
            return EntityProperty(int(value), EdmType.INT64)
        case str():
            return str(value)
        case datetime():
            return value.astimezone(UTC)


def _to_entity(found: TableEntity) -> Entity:
    return Entity(
        partition=found["PartitionKey"],
        row=found["RowKey"],
        fields={name: _as_value(value) for name, value in found.items() if name not in _KEYS},
        etag=str(found.metadata["etag"]),
    )


def _as_value(value: object) -> Value:
    match value:
        case EntityProperty():
            return int(value.value)
        case datetime():
            # The SDK's subclass carries the text it came from; ours is plain.
            return datetime.combine(value.date(), value.timetz())
        case str() | bool() | int():
            return value
        case _:
            raise TypeError(f"a stored property has the type {type(value).__name__}")


def _stored(partition: str, row: str, fields: Fields, answer: Mapping[str, Any]) -> Entity:
    kept = {name: _as_value(_as_property(value)) for name, value in fields.items()}
    return Entity(partition=partition, row=row, fields=kept, etag=str(answer["etag"]))

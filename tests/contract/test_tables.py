"""What every table store promises, in memory and on Azurite."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from uuid import uuid4

import pytest

from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.adapters.azure.tables import PAGE_ROWS, AzureTables
from shared.adapters.memory.tables import MemoryTables
from shared.domain.errors import Conflict
from shared.ports.tables import Entity, Fields, Tables
from tests.support.azurite import Azurite

RACERS = 20
AT = datetime(2026, 3, 1, 12, 30, 15, 678901, tzinfo=UTC)
FIELDS: Fields = {"state": "planned", "attempt": 1, "cancelled": False, "due": AT}


@pytest.fixture(params=["memory", pytest.param("azurite", marks=pytest.mark.azurite)])
async def tables(request: pytest.FixtureRequest) -> AsyncIterator[Tables]:
    if request.param == "memory":
        yield MemoryTables()
        return
    azurite: Azurite = request.getfixturevalue("azurite")
    storage = StorageConnection(StorageAccount(connection_string=azurite.connection_string))
    yield AzureTables(storage)
    await storage.close()


@pytest.fixture
def table() -> str:
    """A name that no other test uses; nothing has created it."""
    return f"t{uuid4().hex}"


async def rows(found: AsyncIterator[Entity]) -> list[str]:
    return [entity.row async for entity in found]


async def test_what_is_inserted_is_found(tables: Tables, table: str) -> None:
    inserted = await tables.insert(table, "job", "1", FIELDS)
    assert inserted == await tables.get(table, "job", "1")
    assert (inserted.partition, inserted.row, inserted.fields) == ("job", "1", FIELDS)


async def test_an_absent_row_is_none_even_where_no_table_is(tables: Tables, table: str) -> None:
    assert await tables.get(table, "job", "1") is None
    await tables.insert(table, "job", "2", FIELDS)
    assert await tables.get(table, "job", "1") is None


@pytest.mark.parametrize(
    "value",
    [
        "",
        "text",
        "é😀\n\t\"'",
        True,
        False,
        0,
        -1,
        2**31,
        2**63 - 1,
        -(2**63) + 1,
        AT,
        AT.replace(microsecond=0),
    ],
    ids=repr,
)
async def test_values_come_back_with_their_types(tables: Tables, table: str, value: str) -> None:
    inserted = await tables.insert(table, "job", "1", {"value": value})
    found = await tables.get(table, "job", "1")
    assert found is not None
    for entity in (inserted, found):
        assert entity.fields == {"value": value}
        assert type(entity.fields["value"]) is type(value)


async def test_instants_come_back_in_utc(tables: Tables, table: str) -> None:
    elsewhere = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    inserted = await tables.insert(table, "job", "1", {"due": elsewhere})
    found = await tables.get(table, "job", "1")
    assert found == inserted
    assert isinstance(inserted.fields["due"], datetime)
    assert (inserted.fields["due"], inserted.fields["due"].tzinfo) == (AT, UTC)


async def test_a_second_insert_is_a_conflict_and_changes_nothing(tables: Tables, table: str) -> None:
    first = await tables.insert(table, "job", "1", {"by": "first"})
    with pytest.raises(Conflict):
        await tables.insert(table, "job", "1", {"by": "second"})
    assert await tables.get(table, "job", "1") == first


async def test_replace_stores_all_fields_and_only_those(tables: Tables, table: str) -> None:
    first = await tables.insert(table, "job", "1", {"old": "x", "kept": 1})
    second = await tables.replace(table, first, {"kept": 2, "new": True})
    assert second.fields == {"kept": 2, "new": True}
    assert second.etag != first.etag
    assert await tables.get(table, "job", "1") == second


async def test_replacing_a_stale_copy_is_a_conflict(tables: Tables, table: str) -> None:
    stale = await tables.insert(table, "job", "1", {"n": 1})
    current = await tables.replace(table, stale, {"n": 2})
    with pytest.raises(Conflict):
        await tables.replace(table, stale, {"n": 3})
    assert await tables.get(table, "job", "1") == current


async def test_the_same_content_stored_again_is_another_version(tables: Tables, table: str) -> None:
    first = await tables.insert(table, "job", "1", {"n": 1})
    await tables.put(table, "job", "1", {"n": 1})
    with pytest.raises(Conflict):
        await tables.replace(table, first, {"n": 2})


async def test_replacing_a_row_that_is_gone_is_a_conflict(tables: Tables, table: str) -> None:
    gone = await tables.insert(table, "job", "1", {"n": 1})
    await tables.delete(table, "job", "1")
    with pytest.raises(Conflict):
        await tables.replace(table, gone, {"n": 2})
    assert await tables.get(table, "job", "1") is None


async def test_put_stores_whatever_was_there(tables: Tables, table: str) -> None:
    await tables.put(table, "job", "1", {"old": "x"})
    await tables.put(table, "job", "1", {"new": "y"})
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert found.fields == {"new": "y"}


async def test_deleting_what_is_absent_is_fine(tables: Tables, table: str) -> None:
    await tables.delete(table, "job", "1")
    entity = await tables.insert(table, "job", "1", {"n": 1})
    await tables.delete(table, "job", "1")
    await tables.delete(table, "job", "1")
    await tables.delete(table, "job", "1", etag=entity.etag)
    assert await tables.get(table, "job", "1") is None


async def test_deleting_a_stale_version_is_a_conflict(tables: Tables, table: str) -> None:
    stale = await tables.insert(table, "job", "1", {"n": 1})
    current = await tables.replace(table, stale, {"n": 2})
    with pytest.raises(Conflict):
        await tables.delete(table, "job", "1", etag=stale.etag)
    await tables.delete(table, "job", "1", etag=current.etag)
    assert await tables.get(table, "job", "1") is None


async def test_of_many_racers_exactly_one_replaces(tables: Tables, table: str) -> None:
    seen = await tables.insert(table, "job", "1", {"winner": -1})

    async def race(number: int) -> int | None:
        try:
            await tables.replace(table, seen, {"winner": number})
        except Conflict:
            return None
        return number

    winners = [n for n in await asyncio.gather(*map(race, range(RACERS))) if n is not None]
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert winners == [found.fields["winner"]]


async def test_no_increment_is_lost_among_racers_that_reload(tables: Tables, table: str) -> None:
    await tables.insert(table, "job", "1", {"count": 0})

    async def increment(_: int) -> None:
        while True:
            entity = await tables.get(table, "job", "1")
            assert entity is not None
            try:
                await tables.replace(table, entity, {"count": int(str(entity.fields["count"])) + 1})
            except Conflict:
                continue
            return

    await asyncio.gather(*map(increment, range(8)))
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert found.fields == {"count": 8}


async def test_of_many_first_writers_exactly_one_inserts(tables: Tables, table: str) -> None:
    async def insert(number: int) -> bool:
        try:
            await tables.insert(table, "job", "1", {"n": number})
        except Conflict:
            return False
        return True

    assert sum(await asyncio.gather(*map(insert, range(RACERS)))) == 1


async def test_a_scan_gives_the_half_open_range_in_order(tables: Tables, table: str) -> None:
    for row in ("c", "a", "d", "b", "B", "10", "9", "é"):
        await tables.insert(table, "job", row, {"n": 1})
    await tables.insert(table, "other", "b", {"n": 1})
    assert await rows(tables.scan(table, "job")) == ["10", "9", "B", "a", "b", "c", "d", "é"]
    assert await rows(tables.scan(table, "job", start="a")) == ["a", "b", "c", "d", "é"]
    assert await rows(tables.scan(table, "job", start="aa", stop="d")) == ["b", "c"]
    assert await rows(tables.scan(table, "job", stop="B")) == ["10", "9"]
    assert await rows(tables.scan(table, "job", start="d", stop="a")) == []
    assert await rows(tables.scan(table, "absent")) == []


async def test_a_scan_of_a_table_that_is_not_there_is_empty(tables: Tables, table: str) -> None:
    assert await rows(tables.scan(table, "job")) == []


async def test_a_scan_goes_on_over_pages(tables: Tables, table: str) -> None:
    wanted = [f"{n:05}" for n in range(2 * PAGE_ROWS + 7)]
    limit = asyncio.Semaphore(16)

    async def insert(row: str) -> None:
        async with limit:
            await tables.put(table, "job", row, {"n": int(row)})

    await asyncio.gather(*map(insert, reversed(wanted)))
    found = [(entity.row, entity.fields["n"]) async for entity in tables.scan(table, "job", stop="00405")]
    assert found == [(row, int(row)) for row in wanted[:405]]


async def test_an_entity_from_a_scan_can_be_replaced(tables: Tables, table: str) -> None:
    await tables.insert(table, "job", "1", FIELDS)
    async for entity in tables.scan(table, "job"):
        assert entity == await tables.get(table, "job", "1")
        await tables.replace(table, entity, {"state": "settled"})
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert found.fields == {"state": "settled"}


KEYS = [
    "",
    "with space",
    " leading",
    "a+b",
    "a%20b",
    "100%",
    "it's",
    "''",
    "a[1]",
    "a&b=c",
    "tenant|2026:12~x*",
    "@start and RowKey ge 'a'",
    "é日本😀",
    "..",
    "x" * 512,
    "日" * 512,
]


@pytest.mark.parametrize("key", KEYS, ids=lambda key: repr(key[:25]))
async def test_any_allowed_key_works_in_every_verb(tables: Tables, table: str, key: str) -> None:
    await tables.put(table, key, key + "!" if len(key) < 512 else key, {"n": 0})
    await tables.delete(table, key, key + "!" if len(key) < 512 else key)
    inserted = await tables.insert(table, key, key, {"n": 1})
    assert await tables.get(table, key, key) == inserted
    replaced = await tables.replace(table, inserted, {"n": 2})
    assert [entity async for entity in tables.scan(table, key, start=key)] == [replaced]
    assert await rows(tables.scan(table, key, stop=key)) == []
    await tables.delete(table, key, key, etag=replaced.etag)
    assert await tables.get(table, key, key) is None


@pytest.mark.parametrize("key", ["a/b", "a\\b", "a#b", "a?b", "tab\t", "\x7f", "x" * 513, "😀" * 257])
async def test_a_key_out_of_bounds_is_refused_by_every_verb(tables: Tables, table: str, key: str) -> None:
    ours = Entity(partition="job", row=key, fields={}, etag="x")
    verbs = [
        tables.get(table, "job", key),
        tables.get(table, key, "1"),
        tables.insert(table, key, "1", {}),
        tables.insert(table, "job", key, {}),
        tables.replace(table, ours, {}),
        tables.put(table, "job", key, {}),
        tables.delete(table, "job", key),
        rows(tables.scan(table, key)),
    ]
    for verb in verbs:
        with pytest.raises(ValueError, match="key"):
            await verb


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x" * 30_001},
        {"text": "😀" * 15_001},
        {"number": 2**63},
        {"number": -(2**63)},
        {"due": datetime(2026, 3, 1)},  # noqa: DTZ001 - the misuse itself
        {"not an identifier": "x"},
        {"": "x"},
        {"RowKey": "x"},
        {"Timestamp": AT},
        {f"f{n}": "x" * 29_000 for n in range(14)},
        {f"f{n}": "é" * 14_000 for n in range(13)},
        {f"f{n}": 1 for n in range(253)},
    ],
    ids=[
        "long string",
        "long emoji",
        "large",
        "small",
        "no zone",
        "no identifier",
        "no name",
        "reserved",
        "also reserved",
        "too many bytes",
        "too many bytes as JSON",
        "too many fields",
    ],
)
async def test_an_entity_out_of_bounds_is_refused(tables: Tables, table: str, fields: Fields) -> None:
    there = await tables.insert(table, "job", "there", {"n": 1})
    for verb in (
        tables.insert(table, "job", "1", fields),
        tables.put(table, "job", "1", fields),
        tables.replace(table, there, fields),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - the class is the promise
            await verb
    assert await rows(tables.scan(table, "job")) == ["there"]


@pytest.mark.parametrize("value", [None, 1.5, b"x", ["x"]], ids=repr)
async def test_a_value_of_another_type_is_refused(tables: Tables, table: str, value: str) -> None:
    with pytest.raises(TypeError):
        await tables.insert(table, "job", "1", {"value": value})


@pytest.mark.parametrize(
    "fields",
    [
        {f"f{n}": "x" * 29_000 for n in range(13)},
        {f"f{n}": "é" * 14_000 for n in range(11)},
        {f"f{n}": '"\\' * 14_000 for n in range(13)},
        {f"f{n}": n for n in range(252)},
        {"emoji": "😀" * 15_000},
    ],
    ids=["ascii", "accents", "escapes", "many fields", "emoji"],
)
async def test_an_entity_at_its_bounds_is_stored(tables: Tables, table: str, fields: Fields) -> None:
    await tables.insert(table, "job", "1", fields)
    found = await tables.get(table, "job", "1")
    assert found is not None
    assert found.fields == fields


@pytest.mark.parametrize("name", ["", "ab", "1ab", "with-dash", "x" * 64])
async def test_a_table_name_out_of_bounds_is_refused(tables: Tables, name: str) -> None:
    with pytest.raises(ValueError, match="table name"):
        await tables.get(name, "job", "1")

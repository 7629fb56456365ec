"""A copy of all tables, and the way back, against a real table service."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.data.tables import EdmType, EntityProperty, TableServiceClient

from backup.__main__ import main
from backup.put_back import put_back, read_manifest
from backup.take import MANIFEST, BadCopy, take
from tests.support.azurite import Azurite, running

pytestmark = pytest.mark.azurite

NOT_BEFORE = timedelta(0)
ODD = {
    "PartitionKey": "tenant|20261130",
    "RowKey": "é😀",
    "text": 'a\nb \u2028 "',
    "empty": "",
    "truth": False,
    "small": -7,
    "large": EntityProperty(2**62, EdmType.INT64),
    "real": 0.1,
    "bytes": b"\x00\xff",
    "at": datetime(2026, 11, 30, 1, 2, 3, 456789, tzinfo=UTC),
}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    """Nobody else's tables are in it: a copy is one of all that there are."""
    with running(tmp_path_factory.mktemp("azurite")) as azurite:
        yield azurite


@pytest.fixture
def tables(own: Azurite) -> Iterator[TableServiceClient]:
    with TableServiceClient.from_connection_string(own.connection_string) as tables:
        empty(tables)
        yield tables


def empty(tables: TableServiceClient) -> None:
    for table in list(tables.list_tables()):
        tables.delete_table(table.name)


def filled(tables: TableServiceClient, **rows: list[dict[str, Any]]) -> None:
    for name, entities in rows.items():
        table = tables.create_table(name)
        for entity in entities:
            table.create_entity(entity)


def everything(tables: TableServiceClient) -> dict[str, list[dict[str, Any]]]:
    return {
        table.name: [dict(row) for row in tables.get_table_client(table.name).list_entities()]
        for table in tables.list_tables()
    }


def row(partition: str, number: int, **fields: Any) -> dict[str, Any]:
    return {"PartitionKey": partition, "RowKey": f"{number:06d}", **fields}


def a_minute_later() -> datetime:
    return datetime.now(UTC) + timedelta(minutes=1)


def test_what_is_put_back_is_what_was_copied_down_to_the_types(
    tables: TableServiceClient, tmp_path: Path
) -> None:
    filled(tables, jobs=[ODD], ledger=[row("a", 1, usd="0.1"), row("b", 1, usd="0.2")], runs=[])
    before = everything(tables)

    take(tables, tmp_path / "copy", a_minute_later, skew=NOT_BEFORE)
    empty(tables)
    rows = put_back(tables, tmp_path / "copy")

    assert everything(tables) == before
    assert rows == {"jobs": 1, "ledger": 2, "runs": 0}


def test_more_rows_than_a_transaction_takes_come_back(tables: TableServiceClient, tmp_path: Path) -> None:
    large = "x" * 30_000
    filled(tables, chunks=[row("job", n, **{f"doc{i}": large for i in range(12)}) for n in range(12)])
    filled(tables, pulses=[row("open", n) for n in range(205)])
    before = everything(tables)

    take(tables, tmp_path / "copy", a_minute_later, skew=NOT_BEFORE)
    empty(tables)
    put_back(tables, tmp_path / "copy")

    assert everything(tables) == before


def test_a_copy_of_tables_that_are_written_to_is_none(tables: TableServiceClient, tmp_path: Path) -> None:
    filled(tables, jobs=[row("a", 1)], ledger=[])
    an_hour_ago = datetime.now(UTC) - timedelta(hours=1)

    with pytest.raises(BadCopy, match=r"written to meanwhile .*: jobs; stop the app"):
        take(tables, tmp_path / "copy", lambda: an_hour_ago)

    with pytest.raises(BadCopy, match="was not finished"):
        put_back(tables, tmp_path / "copy")


def test_nothing_is_put_into_tables_with_rows(tables: TableServiceClient, tmp_path: Path) -> None:
    filled(tables, jobs=[row("a", 1)], runs=[row("a", 1)])
    take(tables, tmp_path / "copy", a_minute_later, skew=NOT_BEFORE)
    tables.delete_table("jobs")

    with pytest.raises(BadCopy, match="tables with rows: runs"):
        put_back(tables, tmp_path / "copy")

    assert everything(tables)["jobs"] == []


@pytest.mark.parametrize("damage", ["missing", "cut", "changed"])
def test_a_damaged_copy_is_refused(tables: TableServiceClient, tmp_path: Path, damage: str) -> None:
    filled(tables, jobs=[row("a", n) for n in range(3)])
    take(tables, tmp_path, a_minute_later, skew=NOT_BEFORE)
    file = tmp_path / "jobs.jsonl.gz"
    content = file.read_bytes()
    match damage:
        case "missing":
            file.unlink()
        case "cut":
            file.write_bytes(content[:-12])
        case _:
            file.write_bytes(gzip.compress(gzip.decompress(content).replace(b"000001", b"000009")))

    with pytest.raises(BadCopy, match="jobs"):
        read_manifest(tmp_path)


def test_a_copy_of_a_later_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"version": 2, "tables": {}}))

    with pytest.raises(BadCopy, match="of version 2; this reads 1"):
        read_manifest(tmp_path)


def test_the_command_checks_and_puts_back(
    own: Azurite, tables: TableServiceClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(tables, jobs=[row("a", 1)])
    take(tables, tmp_path / "copy", a_minute_later, skew=NOT_BEFORE)
    empty(tables)
    env = {"STORAGE": own.connection_string}

    assert main(["check", str(tmp_path / "copy")], {}) == 0
    assert main(["put-back", str(tmp_path / "copy"), "--storage-from", "STORAGE"], env) == 0
    assert main(["put-back", str(tmp_path / "copy"), "--storage-from", "STORAGE"], env) == 1

    told = capsys.readouterr()
    assert "it belongs to blobs of" in told.out
    assert "1 jobs" in told.out
    assert "tables with rows: jobs" in told.err
    assert main(["take", str(tmp_path / "other")], {}) == 1

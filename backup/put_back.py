"""Put a copy back, into tables that have no rows."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from itertools import batched, groupby
from pathlib import Path
from typing import Any, Final

from azure.core.exceptions import ResourceExistsError
from azure.data.tables import TableClient, TableServiceClient

from backup.lines import from_line
from backup.take import MANIFEST, VERSION, BadCopy

# A transaction's limits are 100 rows and 4 MiB, and a row may have 1 MiB ("Performing entity group transactions",
# Microsoft, read 2026-11-30).
_ROWS: Final = 100
_BYTES: Final = 3 * 1024 * 1024


def read_manifest(folder: Path) -> dict[str, Any]:
    """Raise `BadCopy` unless the copy is whole: every file is there, as it was written."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadCopy(f"{folder} has no {MANIFEST}: the copy was not finished") from None
    if manifest["version"] != VERSION:
        raise BadCopy(f"the copy is of version {manifest['version']}; this reads {VERSION}")
    for table, told in manifest["tables"].items():
        digest, rows = hashlib.sha256(), 0
        for line in _lines(folder, table):
            digest.update(line)
            rows += 1
        if (rows, digest.hexdigest()) != (told["rows"], told["sha256"]):
            raise BadCopy(f"{table} is not as it was written: {rows} rows, not {told['rows']}, or other ones")
    return manifest


def put_back(tables: TableServiceClient, folder: Path) -> dict[str, int]:
    """Rows by table. Nothing is written unless the copy is whole and all of its tables are empty."""
    names = sorted(read_manifest(folder)["tables"])
    clients = {name: _made(tables, name) for name in names}
    full = [name for name, client in clients.items() if next(iter(client.list_entities()), None)]
    if full:
        raise BadCopy(f"tables with rows: {', '.join(full)}; a copy goes into empty ones")
    return {name: _fill(client, folder, name) for name, client in clients.items()}


def _made(tables: TableServiceClient, name: str) -> TableClient:
    with suppress(ResourceExistsError):  # the templates make them, too
        tables.create_table(name)
    return tables.get_table_client(name)


def _fill(client: TableClient, folder: Path, name: str) -> int:
    count = 0
    for _, lines in groupby(_lines(folder, name), key=lambda line: from_line(line)["PartitionKey"]):
        for group in _groups(lines):
            client.submit_transaction([("create", from_line(line)) for line in group])
            count += len(group)
    return count


def _groups(lines: Iterator[bytes]) -> Iterator[tuple[bytes, ...]]:
    for handful in batched(lines, _ROWS, strict=False):
        start = size = 0
        for place, line in enumerate(handful):
            if size and size + len(line) > _BYTES:
                yield handful[start:place]
                start, size = place, 0
            size += len(line)
        yield handful[start:]


def _lines(folder: Path, table: str) -> Iterator[bytes]:
    try:
        with gzip.open(folder / f"{table}.jsonl.gz", "rb") as file:
            yield from file
    except (OSError, EOFError) as error:
        raise BadCopy(f"{table}: {error}") from error

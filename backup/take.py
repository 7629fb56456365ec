"""Copy every table as of one moment. Blobs of that moment or later have everything that the records name.

Tables cannot be read at one instant, and a record often speaks of rows in other tables. So a copy counts only if
nothing was written meanwhile, nor shortly before: with the app stopped, or idle.
"""

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from azure.data.tables import TableServiceClient

from backup.lines import to_line

MANIFEST: Final = "manifest.json"
VERSION: Final = 1
# Our clock and the service's may differ by less than this.
_SKEW: Final = timedelta(minutes=1)


class BadCopy(Exception):
    """A copy cannot be made, or is none. The text says why."""


def take(
    tables: TableServiceClient, folder: Path, now: Callable[[], datetime], *, skew: timedelta = _SKEW
) -> dict[str, Any]:
    """Write all tables below `folder`, which must be empty. Answer the manifest; it is written last, and only
    if nothing has changed since `skew` before the beginning."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadCopy(f"{folder} is not empty")
    began = now()
    names = sorted(table.name for table in tables.list_tables())
    copied = {name: _copy(tables, name, folder) for name in names}
    changed = [name for name in names if _has_changed(tables, name, began - skew)]
    if changed:
        raise BadCopy(
            f"written to meanwhile or within {skew.total_seconds():.0f} seconds before: {', '.join(changed)}; "
            "stop the app, wait a minute, and take the copy again"
        )
    manifest = {"version": VERSION, "taken_at": began.isoformat(), "tables": copied}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return manifest


def _copy(tables: TableServiceClient, name: str, folder: Path) -> dict[str, Any]:
    return _write(folder / f"{name}.jsonl.gz", tables.get_table_client(name).list_entities())


def _has_changed(tables: TableServiceClient, name: str, since: datetime) -> bool:
    """Rows that were only deleted are not seen; whoever deletes one writes another, such as the job's record."""
    written = f"Timestamp ge datetime'{since.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}'"
    found = tables.get_table_client(name).query_entities(written, select=["PartitionKey"], results_per_page=1)
    return next(iter(found), None) is not None


def _write(file: Path, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    count, digest = 0, hashlib.sha256()
    with gzip.open(file, "wb") as out:
        for row in rows:
            line = to_line(row) + b"\n"
            out.write(line)
            digest.update(line)
            count += 1
    return {"rows": count, "sha256": digest.hexdigest()}

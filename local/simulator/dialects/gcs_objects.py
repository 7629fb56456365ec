"""Objects of Google Cloud Storage on the simulator's files, and the results of ended jobs among them.

A bucket need not be made: any name is one.
"""

import base64
import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from local.simulator.batches import Batch, Batches
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.vertex_bodies import rfc3339
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files, StoredFile

PURPOSE = "object"
OUTPUT_URI = "output_uri"
KEPT_DAYS = 30
MOST_OBJECTS = 1_000_000
# Small enough that also a test's handful of rows comes in several pieces.
ROWS_PER_SHARD = 3
MAX_SHARDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    bucket: str
    name: str

    @property
    def file_id(self) -> str:
        return "object-" + hashlib.blake2b(f"{self.bucket}/{self.name}".encode(), digest_size=16).hexdigest()

    @property
    def path(self) -> str:
        return f"{self.bucket}/{self.name}"


def location_of(uri: str) -> Location:
    """Raises `CallRefused` for anything but `gs://bucket/name`."""
    bucket, slash, name = uri.removeprefix("gs://").partition("/")
    if not uri.startswith("gs://") or not bucket or not slash:
        raise CallRefused(400, "INVALID_ARGUMENT", f"{uri!r} is no Cloud Storage URI")
    return Location(bucket=bucket, name=name)


def output_directory(batch: Batch) -> str:
    """Named after the job's time of creation, below the prefix it was given."""
    prefix = ((batch.metadata or {}).get(OUTPUT_URI) or "").rstrip("/")
    return f"{prefix}/prediction-model-{rfc3339(batch.created_at)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Objects:
    provider: str
    database: Database
    files: Files
    batches: Batches
    clock: Clock

    def get(self, location: Location) -> StoredFile | None:
        return self.files.get(self.provider, location.file_id)

    def below(self, bucket: str, prefix: str) -> list[StoredFile]:
        """By name: `10` stands before `2`."""
        found = self.files.page(
            self.provider, purpose=PURPOSE, after=None, limit=MOST_OBJECTS, newest_first=False
        )
        start = f"{bucket}/{prefix}"
        return sorted(
            (file for file in found.items if file.filename.startswith(start)), key=lambda file: file.filename
        )

    def keep(self, location: Location, part: Path, *, lines: int | None = None) -> StoredFile:
        """The bytes at `part` become the object, in place of an earlier one."""
        now = int(self.clock.now())
        file = StoredFile(
            id=location.file_id,
            provider=self.provider,
            purpose=PURPOSE,
            filename=location.path,
            bytes=part.stat().st_size,
            created_at=now,
            expires_at=now + KEPT_DAYS * 86_400,
            lines=lines,
        )
        if earlier := self.get(location):
            self.files.delete(earlier)
        part.rename(self.files.path(file.id))
        self.files.add(file)
        return file

    def export_results(self) -> None:
        """Put what ended jobs have written where their callers look for it."""
        page = self.files.page(
            self.provider, purpose="batch_output", after=None, limit=MOST_OBJECTS, newest_first=False
        )
        for written in page.items:
            if written.batch_id is not None:
                self._export(written, self.batches.load(written.batch_id))

    def _export(self, written: StoredFile, batch: Batch) -> None:
        rows = batch.completed + batch.failed
        shards = self._shards(self.files.path(written.id), min(MAX_SHARDS, 1 + rows // ROWS_PER_SHARD))
        with self.database.transaction():
            for name, part in shards.items():
                location = location_of(f"{output_directory(batch)}/{name}")
                file = self.keep(location, part)
                self.database.execute("DELETE FROM files WHERE id = ?", [file.id])
                self.files.add(replace(file, batch_id=batch.id))
            self.database.execute("DELETE FROM files WHERE id = ?", [written.id])
        self.files.path(written.id).unlink(missing_ok=True)

    def _shards(self, path: Path, number: int) -> dict[str, Path]:
        """The rows by turns; where there are several shards, also one for failed rows and an empty one."""
        names = ["predictions.jsonl"]
        if number > 1:
            names = [f"predictions_{n}.jsonl" for n in range(number + 1)] + ["prediction.errors"]
        parts = {name: self.files.incoming() for name in names}
        turns = names[1:-1] or names
        with ExitStack() as stack, path.open("rb") as rows:
            opened = {name: stack.enter_context(part.open("wb")) for name, part in parts.items()}
            for n, row in enumerate(rows):
                is_failed = number > 1 and b'"response":{}' in row[-20:]
                opened["prediction.errors" if is_failed else turns[n % len(turns)]].write(row)
        return parts

    def described(self, file: StoredFile) -> Json:
        """The object resource. Numbers that may be large are strings."""
        bucket, _, name = file.filename.partition("/")
        digest = hashlib.md5(file.id.encode(), usedforsecurity=False).digest()
        moment = rfc3339(file.created_at)
        return {
            "kind": "storage#object",
            "id": f"{file.filename}/1",
            "name": name,
            "bucket": bucket,
            "generation": "1",
            "metageneration": "1",
            "contentType": "application/octet-stream",
            "storageClass": "STANDARD",
            "size": str(file.bytes),
            "etag": base64.b64encode(digest).decode(),
            "timeCreated": moment,
            "updated": moment,
        }

"""A bucket of Google Cloud Storage, through `gcloud-aio-storage`, in flat memory."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Any, Final, cast

import aiohttp
from gcloud.aio.auth import Token
from gcloud.aio.storage import Storage

from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.common.paging import Progress
from shared.adapters.providers.google.gemini_errors import translated
from shared.adapters.providers.google.tokens import GoogleTokens
from shared.domain.errors import NotFound, PosternError
from shared.ports.clock import Clock

_PIECE: Final = 1 << 20
_CALL_SECONDS: Final = 60
_UPLOAD_SECONDS: Final = 900
# A download takes as long as it takes; what counts is whether anything comes.
_TRANSFER: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredObject:
    """`expires_at` is when the bucket's own rules delete it; None: never, or we may not read them."""

    name: str
    created_at: datetime | None
    expires_at: datetime | None


class CloudBucket:
    def __init__(self, *, name: str, address: str | None, tokens: GoogleTokens, clock: Clock) -> None:
        self.name = name
        self._clock = clock
        # With an address of its own the SDK would take the service for an emulator and show no token.
        self._storage = Storage(api_root=address, api_is_dev=False, token=cast("Token", tokens))

    async def close(self) -> None:
        await self._storage.close()

    async def write(self, name: str, content: IO[bytes]) -> None:
        """Resumable whatever its size: one way to test. Closes `content`."""
        with self._translated(f"upload of {name!r}"):
            await self._storage.upload(
                self.name,
                name,
                content,
                content_type="application/jsonl",
                force_resumable_upload=True,
                timeout=_UPLOAD_SECONDS,
            )

    async def look(self, name: str) -> StoredObject:
        with self._translated(f"look at {name!r}"):
            told = await self._storage.download_metadata(self.name, name, timeout=_CALL_SECONDS)
            ages = await self._ages()
            return _object(told, ages)

    async def below(self, prefix: str) -> list[StoredObject]:
        """In order of their names."""
        found: list[dict[str, Any]] = []
        params, progress = {"prefix": prefix}, Progress(f"list below {prefix!r}")
        while True:
            with self._translated(f"list below {prefix!r}"):
                page = await self._storage.list_objects(self.name, params=params, timeout=_CALL_SECONDS)
                found += page.get("items", [])
            if not page.get("nextPageToken"):
                break
            params = {"prefix": prefix, "pageToken": progress.follow(str(page["nextPageToken"]))}
        ages = await self._ages() if found else []
        with self._translated(f"list below {prefix!r}"):
            return sorted((_object(told, ages) for told in found), key=lambda found: found.name)

    async def read(self, name: str) -> AsyncIterator[bytes]:
        with self._translated(f"download of {name!r}"):
            stream = await self._storage.download_stream(
                self.name, name, timeout=cast("int", _TRANSFER), headers={"accept-encoding": "identity"}
            )
            async with stream:
                while piece := await stream.read(_PIECE):
                    yield piece

    async def delete(self, name: str) -> None:
        """Absent is fine."""
        with suppress(NotFound), self._translated(f"delete of {name!r}"):
            await self._storage.delete(self.name, name, timeout=_CALL_SECONDS)

    async def _ages(self) -> list[tuple[str, timedelta]]:
        """Prefix and age of what the bucket's rules delete; nothing where we may not read them."""
        try:
            with self._translated(f"look at bucket {self.name!r}"):
                told = await self._storage.get_bucket_metadata(self.name, timeout=_CALL_SECONDS)
                return list(_deleting(told))
        except PosternError:
            return []

    def _translated(self, what: str) -> Any:
        return translated(Call(name=what), self._clock)


def _deleting(bucket: Mapping[str, Any]) -> Iterator[tuple[str, timedelta]]:
    for rule in (bucket.get("lifecycle") or {}).get("rule", []):
        condition = rule.get("condition") or {}
        # A rule with further conditions may never come true.
        if (rule.get("action") or {}).get("type") == "Delete" and set(condition) <= {"age", "matchesPrefix"}:
            for prefix in condition.get("matchesPrefix") or [""]:
                if isinstance(condition.get("age"), int):
                    yield prefix, timedelta(days=condition["age"])


def _object(told: Mapping[str, Any], ages: list[tuple[str, timedelta]]) -> StoredObject:
    name = str(told["name"])
    created = told.get("timeCreated")
    created_at = datetime.fromisoformat(created) if isinstance(created, str) else None
    fitting = [age for prefix, age in ages if name.startswith(prefix)]
    return StoredObject(
        name=name,
        created_at=created_at,
        expires_at=created_at + min(fitting) if created_at and fitting else None,
    )

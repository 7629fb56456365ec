"""The catalogue in a blob."""

from collections.abc import Mapping
from datetime import timedelta

from shared.adapters.files.last_good import LastGood, OnRefused
from shared.domain.catalog import Catalog
from shared.ports.blobs import Blobs
from shared.ports.clock import Clock
from shared.wire.catalog import MAX_BYTES


class CatalogBlob:
    """The newest good version of the blob `path` (`container/name`) in the account behind `blobs`."""

    def __init__(
        self,
        blobs: Blobs,
        path: str,
        *,
        env: Mapping[str, str],
        clock: Clock,
        every: timedelta = timedelta(seconds=10),
        on_refused: OnRefused | None = None,
    ) -> None:
        text = _Blob(blobs, path)
        self._last_good = LastGood(text, env=env, clock=clock, every=every, on_refused=on_refused)

    @property
    def trouble(self) -> str | None:
        return self._last_good.trouble

    async def current(self) -> Catalog:
        return await self._last_good.current()


class _Blob:
    def __init__(self, blobs: Blobs, path: str) -> None:
        self._blobs = blobs
        self._path = path

    @property
    def name(self) -> str:
        return self._path

    async def version(self, beside: str | None = None) -> str | None:
        found = await self._blobs.head(self._place(beside))
        return found.etag if found else None

    async def read(self, version: str, beside: str | None = None) -> bytes:
        pieces = self._blobs.read(self._place(beside), etag=version, length=MAX_BYTES + 1)
        return b"".join([piece async for piece in pieces])

    def _place(self, beside: str | None) -> str:
        return self._path if beside is None else f"{self._path.rpartition('/')[0]}/{beside}"

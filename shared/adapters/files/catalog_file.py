"""The catalogue in a file."""

import asyncio
import os
import stat
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from shared.adapters.files.last_good import LastGood, OnRefused
from shared.domain.catalog import Catalog
from shared.domain.errors import Conflict, TryAgainLater
from shared.ports.clock import Clock
from shared.wire.catalog import MAX_BYTES


class CatalogFile:
    """The file's newest good version. A link is followed at every look, so it may be switched over."""

    def __init__(
        self,
        path: Path,
        *,
        env: Mapping[str, str],
        clock: Clock,
        every: timedelta = timedelta(seconds=1),
        on_refused: OnRefused | None = None,
    ) -> None:
        self._last_good = LastGood(_File(path), env=env, clock=clock, every=every, on_refused=on_refused)

    @property
    def trouble(self) -> str | None:
        return self._last_good.trouble

    async def current(self) -> Catalog:
        return await self._last_good.current()


class _File:
    """Off the event loop: the file may lie on a network share."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        return str(self._path)

    async def version(self, beside: str | None = None) -> str | None:
        return await asyncio.to_thread(_version_of, self._place(beside))

    async def read(self, version: str, beside: str | None = None) -> bytes:
        return await asyncio.to_thread(_read, self._place(beside), version)

    def _place(self, beside: str | None) -> Path:
        return self._path if beside is None else self._path.parent / beside


def _version_of(path: Path) -> str | None:
    try:
        return _version(path.stat())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error) from error


def _read(path: Path, version: str) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise TryAgainLater(f"catalogue {str(path)!r} is not a file")
        with path.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
            read = _version(os.fstat(opened.fileno()))
    except OSError as error:
        raise _unreadable(path, error) from error
    if read != version:
        raise Conflict(f"catalogue {str(path)!r} changed while it was read")
    return content


def _unreadable(path: Path, error: OSError) -> TryAgainLater:
    return TryAgainLater(f"catalogue {str(path)!r} cannot be read: {error.strerror}")


def _version(status: os.stat_result) -> str:
    return f"{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"

"""The data folder of one stack: who uses it, which ports it has, what is published about it."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import random
import socket
import tempfile
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Below the range from which the system picks ports for outgoing connections: a port that is free while its
# process restarts must not be taken by one of those.
_PORT_RANGE = range(20_000, 32_000)


class FolderInUse(Exception):
    """Another stack works on this folder."""


class PortInUse(Exception):
    """A port that this folder's stack must have is taken by somebody else."""


class DataFolder:
    """`path` is created when it is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.logs = self.path / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.published = self.path / "stack.json"
        self._ports = self.path / "ports.json"

    async def lock(self, *, patience_seconds: float) -> int:
        """Take the folder, waiting for a stack that is just ending; the file descriptor holds the lock.

        Children inherit it, so that the folder is free only when the last of them has saved its state.
        Raises `FolderInUse`.
        """
        handle = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for _ in range(max(1, int(patience_seconds / 0.1))):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as exc:
                if exc.errno not in {errno.EAGAIN, errno.EACCES}:
                    raise
                await asyncio.sleep(0.1)
            else:
                return handle
        os.close(handle)
        raise FolderInUse(f"another stack is using {self.path}; stop it, or give another folder with --data")

    def ports(
        self, names: Iterable[str], *, fixed: Mapping[str, int], wanted: Mapping[str, int] | None = None
    ) -> dict[str, int]:
        """A port for each name, and all are kept.

        `fixed` comes first, then the one of last time, then `wanted` if it is free, else any free one.
        """
        kept: dict[str, int] = json.loads(self._ports.read_bytes()) if self._ports.exists() else {}
        chosen = {**kept, **fixed}
        for name, port in (wanted or {}).items():
            if name not in chosen and _is_free(port):
                chosen[name] = port
        for name in names:
            if name not in chosen:
                chosen[name] = _free_port(taken=set(chosen.values()))
        if chosen != kept:
            write_whole(self._ports, chosen)
        return {name: chosen[name] for name in names}

    def publish(self, stack: Mapping[str, object]) -> None:
        """Replace stack.json; a reader sees the old content or the new."""
        write_whole(self.published, stack)


async def until_free(
    ports: Mapping[str, int], *, patience_seconds: float, given: Collection[str] = ()
) -> None:
    """Wait for the ports of processes that are just ending. Raises `PortInUse`.

    `given`: the names of those that somebody chose on the command line.
    """
    for name, port in ports.items():
        for _ in range(max(1, int(patience_seconds / 0.1))):
            if _is_free(port):
                break
            await asyncio.sleep(0.1)
        else:
            otherwise = (
                "give another --port"
                if name in given
                else "delete ports.json in the data folder to get other ports"
            )
            raise PortInUse(
                f"port {port}, which belongs to {name}, is taken by another program; stop that program, "
                f"or {otherwise}"
            )


def write_whole(file: Path, content: object) -> None:
    """Write JSON so that the file is never seen half written."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=file.name, delete=False) as draft:
        json.dump(content, draft)
    os.replace(draft.name, file)


def _free_port(*, taken: set[int]) -> int:
    for port in random.sample(_PORT_RANGE, 1000):
        if port not in taken and _is_free(port):
            return port
    raise PortInUse("no free port between 20000 and 32000 on 127.0.0.1")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # Like a server does, or a port whose last connections linger would look taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True

"""`python -m local up`: from the command line to a running stack, and to its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from local.launcher.development_keys import ADMIN_KEY, TENANT_KEYS
from local.launcher.folder import DataFolder, FolderInUse, PortInUse, until_free
from local.launcher.layout import PORT_NAMES, Layout
from local.launcher.leash import follow_parent
from local.launcher.options import Options, parse_options
from local.launcher.processes import ProcessTable, stack_processes
from local.launcher.readiness import answers
from local.launcher.supervisor import StartFailed, Supervisor

log = logging.getLogger(__name__)

# A stack that was killed hard needs this long until Azurite has saved its index and ended.
PATIENCE_SECONDS = 30.0
# The simulator's port when somebody chose the HTTP port: 7081 beside 7071.
SIMULATOR_BESIDE = 10


def main(arguments: Sequence[str], *, table: ProcessTable = stack_processes) -> int:
    """Run the stack until a signal ends it; the exit code says whether it came up."""
    options = parse_options(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    # The SDK logs every call with its headers.
    logging.getLogger("azure").setLevel(logging.WARNING)
    if options.follow_parent:
        follow_parent(signal.SIGTERM)
    try:
        with _data_folder(options) as path:
            return asyncio.run(_up(options, DataFolder(path), table))
    except (FolderInUse, PortInUse, StartFailed) as exc:
        print(exc, file=sys.stderr)
        return 1


@contextlib.contextmanager
def _data_folder(options: Options) -> Iterator[Path]:
    if options.data is not None:
        yield options.data
        return
    with tempfile.TemporaryDirectory(prefix="postern-", ignore_cleanup_errors=True) as temporary:
        yield Path(temporary)


async def _up(options: Options, folder: DataFolder, table: ProcessTable) -> int:
    ended = _end_signal()
    lock = await folder.lock(patience_seconds=PATIENCE_SECONDS)
    # What is written there is about processes that are gone.
    folder.published.unlink(missing_ok=True)
    layout = await _layout(options, folder)
    announcement = _Announcement(layout, folder)
    supervisor = Supervisor(
        table(layout), logs=folder.logs, lock=lock, on_change=announcement.processes_changed
    )
    try:
        await _start_unless_ended(supervisor, ended)
        if not ended.is_set():
            announcement.make()
            await _tell_if_not_ready(layout)
            await ended.wait()
    finally:
        await supervisor.stop()
    return 0


async def _tell_if_not_ready(layout: Layout) -> None:
    """The host answers, but the app may have refused its catalogue or a setting."""
    with contextlib.suppress(OSError, TimeoutError, EOFError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            if not await answers(f"{layout.http}/readyz"):
                log.warning(
                    "the app is not ready: %s/readyz says which part fails, %s says why",
                    *(layout.http, layout.data / "logs" / "host.log"),
                )


async def _start_unless_ended(supervisor: Supervisor, ended: asyncio.Event) -> None:
    start = asyncio.create_task(supervisor.start())
    end = asyncio.create_task(ended.wait())
    await asyncio.wait({start, end}, return_when=asyncio.FIRST_COMPLETED)
    end.cancel()
    if start.done():
        start.result()
    else:
        start.cancel()
        await asyncio.gather(start, return_exceptions=True)


async def _layout(options: Options, folder: DataFolder) -> Layout:
    fixed = {} if options.port is None else {"http": options.port}
    wanted = {} if options.port is None else {"simulator": options.port + SIMULATOR_BESIDE}
    ports = folder.ports(PORT_NAMES, fixed=fixed, wanted=wanted)
    await until_free(ports, patience_seconds=PATIENCE_SECONDS, given=fixed)
    return Layout(
        data=folder.path,
        ports=ports,
        catalog=options.catalog,
        app=options.app,
        sweep=options.sweep,
        overrides=options.settings,
    )


class _Announcement:
    """What the world is told: once on stdout when all is ready, and in stack.json from then on."""

    def __init__(self, layout: Layout, folder: DataFolder) -> None:
        self._layout = layout
        self._folder = folder
        self._pids: Mapping[str, int] = {}
        self._made = False

    def processes_changed(self, pids: Mapping[str, int]) -> None:
        self._pids = pids
        if self._made:
            self._folder.publish(self._content())

    def make(self) -> None:
        content = self._content()
        self._folder.publish(content)
        self._made = True
        print(json.dumps(content), flush=True)

    def _content(self) -> dict[str, object]:
        layout = self._layout
        built_in = layout.catalog is None
        return {
            "ready": True,
            "http": layout.http,
            "console": f"{layout.http}/console",
            "storage": layout.storage,
            "servicebus": layout.servicebus,
            "simulator": layout.simulator,
            "events": f"{layout.simulator}/_sim/events",
            "feed": layout.feed,
            "keys": TENANT_KEYS if built_in else {},
            "admin_key": ADMIN_KEY if built_in else None,
            "data": str(layout.data),
            "pids": {"launcher": os.getpid(), **self._pids},
        }


def _end_signal() -> asyncio.Event:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, ended.set)
    return ended

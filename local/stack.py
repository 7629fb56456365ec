"""The local stack for programs that need one: the demo, the tests, the benchmarks."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import ContainerClient

START_SECONDS = 120.0
STOP_SECONDS = 60.0
COMMAND = (sys.executable, "-m", "local")
_PROJECT = Path(__file__).parent.parent


class StackFailed(Exception):
    """The stack did not come up; the message has the end of the launcher's log."""


class Stack:
    """A running stack. `data` keeps its state from one `stop` to the next `start`.

    It ends when the thread that started it does, so that a program that is killed leaves nothing behind.
    """

    def __init__(self, *, data: Path, arguments: Sequence[str], command: Sequence[str] = COMMAND) -> None:
        self.data = data.resolve()
        self._arguments = [*command, "up", "--follow-parent", "--data", str(self.data), *arguments]
        self._log = self.data / "logs" / "launcher.log"
        self._launcher: subprocess.Popen[bytes] | None = None
        self._said: dict[str, Any] = {}
        self._stdout = b""

    @property
    def http(self) -> str:
        return str(self._said["http"])

    @property
    def simulator(self) -> str:
        return str(self._said["simulator"])

    @property
    def events(self) -> str:
        return str(self._said["events"])

    @property
    def storage(self) -> str:
        return str(self._said["storage"])

    @property
    def servicebus(self) -> str:
        return str(self._said["servicebus"])

    @property
    def feed(self) -> str:
        """Where the knobs of the change feed are."""
        return str(self._said["feed"])

    @property
    def keys(self) -> dict[str, str]:
        """Tenants' keys of the built-in catalogue."""
        return dict(self._said["keys"])

    @property
    def admin_key(self) -> str:
        return str(self._said["admin_key"])

    def pids(self) -> dict[str, int]:
        """Process ids as they are now, the launcher's among them."""
        return dict(json.loads((self.data / "stack.json").read_bytes())["pids"])

    def start(self) -> None:
        """Return when everything answers. Raises `StackFailed`."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._launcher = subprocess.Popen(
                self._arguments,
                cwd=_PROJECT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
            )
        self._stdout = _first_line(self._launcher, deadline=time.monotonic() + START_SECONDS)
        if not self._stdout:
            self.stop()
            raise StackFailed(f"the local stack did not start:\n{_tail(self._log)}")
        self._said = json.loads(self._stdout)

    def stdout_so_far(self) -> bytes:
        """Everything the launcher has written to stdout since `start`."""
        pipe = None if self._launcher is None else self._launcher.stdout
        while (
            pipe is not None
            and select.select([pipe], [], [], 0)[0]
            and (more := os.read(pipe.fileno(), 65536))
        ):
            self._stdout += more
        return self._stdout

    def drop(self, path: str, content: bytes, **metadata: str) -> str:
        """Put a document at `{tenant}/{pipeline}/{any/path}` and give its ETag."""
        with self.container("documents") as documents, documents.get_blob_client(path) as blob:
            return str(blob.upload_blob(content, overwrite=True, metadata=metadata)["etag"])

    def result(self, path: str) -> dict[str, Any] | None:
        """The result of the document at `path`; None when there is none yet."""
        with self.container("results") as results:
            try:
                return dict(json.loads(results.download_blob(f"{path}.json").readall()))
            except ResourceNotFoundError:
                return None

    def wait_for_result(self, path: str, *, seconds: float = 30.0) -> dict[str, Any]:
        """The same, once it is there. Raises `StackFailed`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            result = self.result(path)
            if result is not None:
                return result
            time.sleep(0.1)
        raise StackFailed(f"there was no result for {path} within {seconds:.0f} s")

    def turn_knobs(self, **knobs: float) -> None:
        """Set the change feed's mishaps: duplicates, delay_seconds, jitter_seconds, loss, seed. Others are off."""
        request = urllib.request.Request(f"{self.feed}/knobs", data=json.dumps(knobs).encode(), method="PUT")
        with urllib.request.urlopen(request, timeout=10) as response:
            response.read()

    def feed_counts(self) -> dict[str, int]:
        """What the feed has done since its start: seen, lost, in_flight, delivered, refused."""
        with urllib.request.urlopen(f"{self.feed}/counts", timeout=10) as response:
            return dict(json.loads(response.read()))

    def container(self, name: str) -> ContainerClient:
        """A client of one container of the stack's storage; the caller closes it."""
        return ContainerClient.from_connection_string(self.storage, name)

    def stop(self) -> None:
        """End the stack gently; state stays in `data`. Does nothing when it does not run."""
        launcher, self._launcher = self._launcher, None
        if launcher is None:
            return
        launcher.terminate()
        try:
            launcher.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            launcher.kill()
            launcher.wait()
        if launcher.stdout is not None:
            launcher.stdout.close()

    def restart(self) -> None:
        """Stop and start on the same data; the addresses stay the same."""
        self.stop()
        self.start()

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to one process and return its id, which `wait_for_restart` takes."""
        pid = self.pids()[name]
        os.kill(pid, number)
        return pid

    def wait_for_restart(self, name: str, old_pid: int, *, seconds: float = 30.0) -> int:
        """The new process id of `name`, once the supervisor has replaced `old_pid` and the host answers."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            pid = self.pids()[name]
            if pid != old_pid and _answers(f"{self.http}/admin/host/status"):
                return pid
            time.sleep(0.05)
        raise StackFailed(f"{name} was not started again within {seconds:.0f} s:\n{_tail(self._log)}")


@contextlib.contextmanager
def start_stack(
    data: Path | None = None,
    settings: Mapping[str, str] | None = None,
    catalog: Path | None = None,
    *,
    sweep: bool = True,
    port: int | None = None,
    app: Path | None = None,
    command: Sequence[str] = COMMAND,
) -> Iterator[Stack]:
    """A stack that runs while the block does; without `data` in a temporary folder.

    `app` None: the app of this checkout.
    """
    arguments = [part for name, value in (settings or {}).items() for part in ("--set", f"{name}={value}")]
    arguments += [] if catalog is None else ["--catalog", str(catalog)]
    arguments += [] if app is None else ["--app", str(app)]
    arguments += [] if sweep else ["--no-sweep"]
    arguments += [] if port is None else ["--port", str(port)]
    folder = data or Path(tempfile.mkdtemp(prefix="postern-"))
    stack = Stack(data=folder, arguments=arguments, command=command)
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)


def _first_line(process: subprocess.Popen[bytes], *, deadline: float) -> bytes:
    """What the launcher says; empty when it ended or the time is over."""
    assert process.stdout is not None
    while time.monotonic() < deadline:
        readable, _, _ = select.select([process.stdout], [], [], 0.2)
        if readable:
            return process.stdout.readline()
    return b""


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return int(response.status) == 200
    except (OSError, urllib.error.URLError):
        return False


def _tail(file: Path) -> str:
    return "\n".join(file.read_text(errors="replace").splitlines()[-40:]) if file.exists() else ""

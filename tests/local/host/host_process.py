"""A host as a process of its own, for tests that talk to it over HTTP."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PROJECT = HERE.parent.parent.parent


class HostProcess:
    """Started by the constructor; `errors` is what it has written to stderr so far.

    Keeps its state in `folder`: another host with the same one goes on where this one ended.
    """

    def __init__(self, app: Path, *, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._app, self._settings = app, settings or {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = folder / "host"
        self._errors = folder / f"{app.name}.err"
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "local.host", "--app", str(self._app), "--port", str(self.port)]
        with self._errors.open("ab") as errors:
            return subprocess.Popen(
                [*command, "--data", str(self.data)],
                cwd=PROJECT,
                env={"PATH": os.environ["PATH"], **self._settings},
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def start_again(self) -> None:
        """After `end`: on the same port and folder; returns when it is ready."""
        self._process = self._start()
        self.wait_until_ready()

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    def wait_until_ready(self) -> dict[str, Any]:
        """Its status; fails the test when it does not come up."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/admin/host/status", timeout=2) as response:
                    return dict(json.loads(response.read()))
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
        raise AssertionError(f"the host did not start:\n{self.errors}")

    def resident_bytes(self) -> int:
        """Memory of the process now."""
        return int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]) * 4096

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal it, wait, and give its exit code."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        return self._process.wait(20)

"""The emulator as its own process, which a test may kill."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from local.servicebus.definitions import connection_string

STARTS_WITHIN_SECONDS = 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


class Emulator:
    """Keeps its port and folder over restarts. stdout and stderr are kept for the test to look at."""

    def __init__(self, folder: Path, definitions: Mapping[str, Any]) -> None:
        self.port = free_port()
        self.folder = folder
        self._definitions = folder / "queues.json"
        self._definitions.write_text(json.dumps(definitions))
        self._process: subprocess.Popen[bytes] | None = None

    def connection_string(self, policy: str = "app", key: str = "app-key") -> str:
        return connection_string(self.port, policy=policy, key=key)

    def start(self) -> None:
        command = [sys.executable, "-m", "local.servicebus", "--port", str(self.port)]
        command += ["--data", str(self.folder / "data"), "--queues", str(self._definitions)]
        with (self.folder / "stdout").open("ab") as out, (self.folder / "stderr").open("ab") as err:
            self._process = subprocess.Popen(command, stdout=out, stderr=err)
        self._await_accept()

    def kill(self) -> None:
        """SIGKILL: no farewell, no flush."""
        process = self._running()
        process.kill()
        process.wait(10)

    def stop(self) -> int:
        process = self._running()
        process.send_signal(signal.SIGTERM)
        return process.wait(10)

    def counts(self, queue: str) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/queues/{queue}", timeout=5) as answer:
            counts: dict[str, Any] = json.load(answer)
            return counts

    def log(self) -> str:
        return (self.folder / "stderr").read_text()

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None
        return self._process

    def _await_accept(self) -> None:
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        while time.monotonic() < deadline:
            assert self._running().poll() is None, self.log()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        raise TimeoutError(f"port {self.port} did not open: {self.log()}")


@contextlib.contextmanager
def running(folder: Path, definitions: Mapping[str, Any]) -> Iterator[Emulator]:
    emulator = Emulator(folder, definitions)
    emulator.start()
    try:
        yield emulator
    finally:
        emulator.kill()


def with_policies(queues: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "queues": queues,
        "policies": {
            "app": {"key": "app-key", "rights": ["Manage"]},
            "sender": {"key": "sender-key", "rights": ["Send"]},
            "listener": {"key": "listener-key", "rights": ["Listen"]},
        },
    }

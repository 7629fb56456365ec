"""A simulator process of our own, and the ways to steer it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
READY_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass(slots=True, kw_only=True)
class Simulator:
    """One process on one port and one folder; it can die and come back."""

    data: Path
    storage: str | None = None
    port: int = field(default_factory=free_port)
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            sys.executable,
            "-m",
            "local.simulator",
            "--port",
            str(self.port),
            "--data",
            str(self.data),
        ]
        self.data.mkdir(parents=True, exist_ok=True)
        with (self.data / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, env=self._environment()
            )
        deadline = time.monotonic() + READY_SECONDS
        while not self._answers():
            assert self.process.poll() is None, (self.data / "log").read_text()
            assert time.monotonic() < deadline, "the simulator did not become ready"
            time.sleep(0.02)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **({"SIMULATOR_STORAGE": self.storage} if self.storage else {})}

    def _answers(self) -> bool:
        try:
            return bool(self.get("health") == {"status": "ready"})
        except OSError:
            return False

    def kill(self) -> None:
        """No farewell: as `kill -9`."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> tuple[int, bytes]:
        """Exit code after SIGTERM, and all it ever wrote to stdout."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
        out, _ = self.process.communicate(timeout=10)
        return self.process.returncode, out

    def get(self, path: str) -> Any:
        return self.send("GET", path)

    def send(self, method: str, path: str, body: object = None) -> Any:
        """A control call below `/_sim/`; raises `HTTPError` on anything but 2xx."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/_sim/{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def rule(self, *, match: dict[str, object], then: dict[str, object], times: int | None = None) -> None:
        self.send("POST", "rules", [{"match": match, "then": then, "times": times}])

    def refuses(self, path: str, body: object) -> str:
        """The reason given for a 400."""
        with pytest.raises(urllib.error.HTTPError) as refused:
            self.send("POST", path, body)
        with refused.value as answer:
            assert answer.code == 400
            return str(json.load(answer)["error"]["message"])

    def advance(self, **units: float) -> None:
        seconds = units.get("days", 0) * 86_400 + units.get("hours", 0) * 3600 + units.get("seconds", 0)
        self.send("POST", "clock", {"advance_seconds": seconds})

    def journal(self, operation: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"journal?operation={operation}")
        return found

"""A real Azurite for the session, on ports that it chooses itself."""

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.launcher.processes import KEEP_ALIVE_SECONDS
from tests.support.identity import write_certificate

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "node_modules" / ".bin" / "azurite"
START_SECONDS = 60.0
STOP_SECONDS = 20.0

# The account that every Azurite has; public by design.
ACCOUNT = "devstoreaccount1"
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

_LISTENING = re.compile(r"Azurite (\w+) service is successfully listening at (https?://127\.0\.0\.1:\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Azurite:
    """Where it listens, without a trailing slash and with the account's name; and where it tells of requests."""

    blob_url: str
    queue_url: str
    table_url: str
    access_log: Path

    @property
    def connection_string(self) -> str:
        return (
            f"{connection_string(blob_url=self.blob_url, table_url=self.table_url)}"
            f"QueueEndpoint={self.queue_url};"
        )


def connection_string(*, blob_url: str, table_url: str) -> str:
    """To the account every Azurite has, wherever it is reached."""
    return (
        f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={ACCOUNT_KEY};"
        f"BlobEndpoint={blob_url};TableEndpoint={table_url};"
    )


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azurite]:
    """Reached by connection string. Skipped, with the reason, where Node or Azurite is missing."""
    with running(tmp_path_factory.mktemp("azurite")) as azurite:
        yield azurite


@pytest.fixture(scope="session")
def secure_azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Azurite, Path]]:
    """Reached over TLS, by identity too; the second value is the certificate to trust."""
    folder = tmp_path_factory.mktemp("secure-azurite")
    certificate, key = write_certificate(folder)
    with running(folder, "--oauth", "basic", "--cert", str(certificate), "--key", str(key)) as azurite:
        yield azurite, certificate


def is_installed() -> bool:
    """Whether an Azurite can be had on this machine."""
    return shutil.which("node") is not None and PROGRAM.exists()


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Azurite]:
    """An Azurite that keeps its data under `folder`, and is stopped gently at the end."""
    if shutil.which("node") is None:
        pytest.skip("Azurite needs Node.js, which is not on the path")
    if not PROGRAM.exists():
        pytest.skip("Azurite is not installed; run `npm ci`")
    log = folder / "access.log"
    command = [*_command(folder / "data"), *options]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        yield _listening(process, log)
    finally:
        _stop(process)


def _command(data: Path) -> list[str]:
    options = ["--skipApiVersionCheck", "--disableTelemetry", "--location", str(data)]
    for service in ("blob", "queue", "table"):
        options += [f"--{service}Host", "127.0.0.1", f"--{service}Port", "0"]
        options += [f"--{service}KeepAliveTimeout", str(KEEP_ALIVE_SECONDS)]
    return [str(PROGRAM), *options]


def _listening(process: subprocess.Popen[bytes], log: Path) -> Azurite:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        told = dict(_LISTENING.findall(log.read_text()))
        if told.keys() >= {"Blob", "Queue", "Table"}:
            return Azurite(
                blob_url=f"{told['Blob']}/{ACCOUNT}",
                queue_url=f"{told['Queue']}/{ACCOUNT}",
                table_url=f"{told['Table']}/{ACCOUNT}",
                access_log=log,
            )
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise RuntimeError(f"Azurite did not start:\n{log.read_text()[-2000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

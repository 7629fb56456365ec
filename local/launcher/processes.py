"""The table of processes that make up the stack. What runs, not how it is kept running."""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from local.launcher.containers import make_containers
from local.launcher.folder import write_whole
from local.launcher.layout import Layout
from local.launcher.settings import app_settings, base_environment

PROJECT = Path(__file__).parent.parent.parent
AZURITE_SIGNALS = Path(__file__).parent / "azurite_signals.cjs"
QUEUES = ("documents", "storage-events")
BLOB_WEBHOOK = "/runtime/webhooks/blobs?functionName=Host.Functions.claim_document"
# Longer than clients keep an idle connection: one that is closed under them fails their next call, and on a busy
# machine several in a row. Azurite's own is 5 s.
KEEP_ALIVE_SECONDS = 300
_QUEUE = {
    "lockDuration": "PT15S",
    "maxDeliveryCount": 5,
    "requiresDuplicateDetection": True,
    "duplicateDetectionHistoryTimeWindow": "PT1H",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process of the stack.

    It is ready when `url` answers 200, or without one when every port accepts, and `prepare`, which is asked
    until it succeeds, says yes. `after` names what must be ready before its first start. `on_orphaned` is the
    signal that it gets when the launcher is killed.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ports: tuple[int, ...]
    url: str | None = None
    prepare: Callable[[], Awaitable[bool]] | None = None
    after: frozenset[str] = field(default_factory=frozenset)
    on_orphaned: signal.Signals = signal.SIGKILL
    stop_seconds: float = 10.0
    access_log: bool = False


type ProcessTable = Callable[[Layout], tuple[Process, ...]]


def stack_processes(layout: Layout) -> tuple[Process, ...]:
    """Storage, simulator and Service Bus side by side, then the host with the app."""
    return (
        azurite(layout),
        simulator(layout),
        servicebus(layout),
        change_feed(layout),
        host(layout, layout.app or PROJECT),
    )


def host(layout: Layout, app: Path) -> Process:
    """The Functions host with the app in the folder `app`."""
    port = layout.ports["http"]
    return Process(
        name="host",
        command=(
            *(sys.executable, "-m", "local.host"),
            *("--app", str(app), "--port", str(port), "--data", str(layout.data / "host")),
        ),
        environment={**base_environment(), **app_settings(layout)},
        ports=(port,),
        url=f"http://127.0.0.1:{port}/admin/host/status",
        after=frozenset({"azurite", "simulator", "servicebus"}),
        # Requests, messages and the worker each get a few seconds to end, one after the other.
        stop_seconds=20.0,
    )


def simulator(layout: Layout) -> Process:
    """The providers. Azure OpenAI among them has a role in the storage account."""
    process = python_module(layout, "simulator", url=f"{layout.simulator}/_sim/health")
    return replace(process, environment={**process.environment, "SIMULATOR_STORAGE": layout.storage})


def servicebus(layout: Layout) -> Process:
    """The broker. Its locks are short, so that what a killed host held comes back while somebody watches."""
    queues = layout.data / "queues.json"
    write_whole(queues, {"queues": dict.fromkeys(QUEUES, _QUEUE)})
    process = python_module(layout, "servicebus")
    return replace(process, command=(*process.command, "--queues", str(queues)))


def change_feed(layout: Layout) -> Process:
    """Stands for Event Grid: the system topic of the storage account, and its subscriptions.

    Dropped documents go to the blob trigger, results of batches to the queue of storage events.
    """
    process = python_module(layout, "feed", module="local.change_feed", url=f"{layout.feed}/health")
    return replace(
        process,
        command=(
            *process.command,
            *("--log", str(layout.data / "logs" / "azurite-access.log")),
            *("--webhook", f"{layout.http}{BLOB_WEBHOOK}"),
            *("--prefix", "/blobServices/default/containers/documents/"),
            *("--results-queue", "storage-events"),
        ),
        environment={
            **process.environment,
            "FEED_STORAGE": layout.storage,
            "FEED_SERVICEBUS": layout.servicebus,
        },
        after=frozenset({"azurite"}),
    )


def python_module(layout: Layout, name: str, *, module: str | None = None, url: str | None = None) -> Process:
    """A server of our own: `python -m MODULE --port N --data DIR/NAME`; the module is `local.NAME`."""
    port, data = layout.ports[name], layout.data / name
    data.mkdir(exist_ok=True)
    return Process(
        name=name,
        command=(
            sys.executable,
            "-m",
            module or f"local.{name}",
            *("--port", str(port), "--data", str(data)),
        ),
        environment={**base_environment(), **layout.overrides},
        ports=(port,),
        url=url,
    )


def azurite(layout: Layout) -> Process:
    """Storage. It keeps its index in memory and saves it when it is asked to end: never kill it hard."""
    data = layout.data / "azurite"
    data.mkdir(exist_ok=True)
    servers = [(kind, layout.ports[kind]) for kind in ("blob", "queue", "table")]
    listening = [
        part
        for kind, port in servers
        for part in (
            *(f"--{kind}Host", "127.0.0.1", f"--{kind}Port", str(port)),
            *(f"--{kind}KeepAliveTimeout", str(KEEP_ALIVE_SECONDS)),
        )
    ]
    return Process(
        name="azurite",
        command=(
            *("node", "--require", str(AZURITE_SIGNALS)),
            str(PROJECT / "node_modules/.bin/azurite"),
            *listening,
            *("--location", str(data), "--skipApiVersionCheck", "--disableTelemetry"),
        ),
        environment=base_environment(),
        ports=tuple(port for _, port in servers),
        prepare=lambda: make_containers(layout.storage),
        on_orphaned=signal.SIGTERM,
        stop_seconds=30.0,
        access_log=True,
    )

"""The table of processes that make up the stack. What runs, not how it is kept running."""

from __future__ import annotations

import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local.launcher.containers import make_containers
from local.launcher.layout import Layout
from local.launcher.settings import app_settings, base_environment

PROJECT = Path(__file__).parent.parent.parent


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
        python_module(layout, "simulator", url=f"{layout.simulator}/_sim/health"),
        python_module(layout, "servicebus"),
        host(layout, PROJECT),
    )


def host(layout: Layout, app: Path) -> Process:
    """The Functions host with the app in the folder `app`."""
    port = layout.ports["http"]
    return Process(
        name="host",
        command=(sys.executable, "-m", "local.host", "--app", str(app), "--port", str(port)),
        environment={**base_environment(), **app_settings(layout)},
        ports=(port,),
        url=f"http://127.0.0.1:{port}/admin/host/status",
        after=frozenset({"azurite", "simulator", "servicebus"}),
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
        part for kind, port in servers for part in (f"--{kind}Host", "127.0.0.1", f"--{kind}Port", str(port))
    ]
    return Process(
        name="azurite",
        command=(
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

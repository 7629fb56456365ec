"""The command line of `python -m local`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_WHAT_IT_IS = (
    "Postern on this machine: the app, storage, Service Bus and a provider simulator, on loopback only."
)
_WHAT_UP_DOES = (
    "Starts everything and prints one JSON line with addresses, keys and process ids when it answers."
    " A process that dies is started again. Logs go to stderr and DATA/logs. The same --data goes on"
    " where it ended, on the same ports."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """`data` None means a temporary folder that goes when the stack ends."""

    data: Path | None
    port: int | None
    catalog: Path | None
    app: Path | None
    sweep: bool
    follow_parent: bool
    settings: dict[str, str]


def parse_options(arguments: Sequence[str]) -> Options:
    """Exits with a message when the arguments make no sense."""
    parser = argparse.ArgumentParser(prog="python -m local", description=_WHAT_IT_IS)
    commands = parser.add_subparsers(dest="command", required=True)
    # Only named here: it has a command line of its own.
    commands.add_parser(
        "demo", help="start a stack, send it sample jobs and documents, show what came of them"
    )
    up = commands.add_parser(
        "up",
        help="start the local stack and keep it running until SIGTERM or SIGINT",
        description=_WHAT_UP_DOES,
    )
    up.add_argument("--data", type=_folder, help="folder for all state (default: a temporary one)")
    up.add_argument("--port", type=_port, help="HTTP port (default: a free one, then always the same)")
    up.add_argument("--catalog", type=_existing_file, help="catalogue to use instead of the built-in one")
    up.add_argument("--app", type=_app_folder, help="folder of the app to serve instead of this one")
    up.add_argument("--no-sweep", action="store_true", help="do not run the sweep on its timer")
    up.add_argument(
        "--follow-parent", action="store_true", help="end too when the program that started this one ends"
    )
    up.add_argument(
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        type=_assignment,
        action="append",
        default=[],
        help="an app setting or environment value; may be repeated",
    )
    given = parser.parse_args(arguments)
    return Options(
        data=given.data,
        port=given.port,
        catalog=given.catalog,
        app=given.app,
        sweep=not given.no_sweep,
        follow_parent=given.follow_parent,
        settings=dict(given.settings),
    )


def _folder(text: str) -> Path:
    folder = Path(text)
    if folder.exists() and not folder.is_dir():
        raise argparse.ArgumentTypeError(f"{folder} is a file; name a folder, which may be a new one")
    return folder


def _port(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port")
    return int(text)


def _existing_file(text: str) -> Path:
    file = Path(text).resolve()
    if not file.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {file}")
    return file


def _app_folder(text: str) -> Path:
    # Not resolved: a link may be turned to another version, which the host takes at its next start.
    folder = Path(text).absolute()
    if not (folder / "function_app.py").is_file():
        raise argparse.ArgumentTypeError(f"there is no function_app.py in {folder}")
    return folder


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value

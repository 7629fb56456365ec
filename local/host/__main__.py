"""`python -m local.host --app DIR --port N`: serve one function app on loopback."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from local.host.server import run_host
from local.host.worker import AppBroken

# They write a line or more for every request.
_CHATTY = ("azure", "azure.functions", "durabletask", "aiohttp.access", "httpx2", "httpcore2")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m local.host", description=__doc__)
    parser.add_argument("--app", type=Path, required=True, help="folder with function_app.py and host.json")
    parser.add_argument("--port", type=int, required=True, help="HTTP port on 127.0.0.1")
    parser.add_argument("--data", type=Path, help="folder for state (default: a temporary one)")
    options = parser.parse_args()
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        with _data_folder(options.data) as data:
            asyncio.run(run_host(options.app.resolve(), port=options.port, data=data))
    except (AppBroken, OSError, ValueError) as exc:
        print(f"the host cannot start: {exc}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _data_folder(given: Path | None) -> Iterator[Path]:
    if given is None:
        with tempfile.TemporaryDirectory(prefix="functions-host-") as temporary:
            yield Path(temporary)
    else:
        # Before the worker changes the current folder.
        folder = given.resolve()
        folder.mkdir(parents=True, exist_ok=True)
        yield folder


if __name__ == "__main__":
    sys.exit(main())

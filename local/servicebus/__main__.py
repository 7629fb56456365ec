"""python -m local.servicebus --port N --data DIR [--queues FILE.json]"""

import argparse
import asyncio
import logging
import signal
import sqlite3
import sys
from pathlib import Path

from local.servicebus.definitions import Definitions, read_definitions
from local.servicebus.server import Emulator

log = logging.getLogger("local.servicebus")


def main() -> int:
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        asyncio.run(_run(options, read_definitions(options.queues)))
    except (OSError, ValueError, sqlite3.Error) as exc:
        log.error("servicebus.failed reason=%r data=%s port=%d", exc, options.data, options.port)  # noqa: TRY400
        return 1
    return 0


async def _run(options: argparse.Namespace, definitions: Definitions) -> None:
    emulator = Emulator(directory=options.data, definitions=definitions)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, emulator.stop)
    await emulator.run(options.port)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m local.servicebus", description="Service Bus on loopback."
    )
    parser.add_argument(
        "--port", type=int, required=True, help="AMQP, and HTTP for the counts; 127.0.0.1 only"
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that keeps the messages")
    parser.add_argument("--queues", type=Path, help="queues and access policies, JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

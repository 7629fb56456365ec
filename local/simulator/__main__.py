"""`python -m local.simulator --port N --data DIR`: serves on loopback until SIGTERM or SIGINT."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

from aiohttp import web

from local.simulator.application import application

# The batch thread must not keep the event loop waiting: it hands over every half millisecond.
SWITCH_SECONDS = 0.0005
GOODBYE_SECONDS = 1.0


async def serve(port: int, folder: Path, storage: str | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with application(folder, storage) as simulator:
        runner = web.AppRunner(simulator, access_log=None, shutdown_timeout=GOODBYE_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
            logging.getLogger("simulator").info("ready on port %d", port)
            await stop.wait()
        finally:
            await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m local.simulator", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder that keeps the state")
    arguments = parser.parse_args()
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    asyncio.run(serve(arguments.port, arguments.data, os.environ.get("SIMULATOR_STORAGE")))


if __name__ == "__main__":
    main()

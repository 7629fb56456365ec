"""`python -m local.change_feed --port N --data DIR --log FILE --webhook URL --prefix SUBJECT`

The storage account's connection string comes from the environment: FEED_STORAGE. With `--results-queue NAME`
events about results of batches go to that queue, on the namespace of FEED_SERVICEBUS.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

import aiohttp
from aiohttp import web
from azure.storage.blob.aio import BlobServiceClient

from local.change_feed.control import control
from local.change_feed.delivery import Webhook
from local.change_feed.events import EventMaker
from local.change_feed.feed import Feed, Subscription
from local.change_feed.follower import LogFollower
from local.change_feed.progress import Progress
from local.change_feed.queueing import Queue

_CONNECTIONS = 8
RESULTS = "/blobServices/default/containers/jobs/blobs/_batches/"


def main() -> int:
    options = _options()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    logging.getLogger("azure").setLevel(logging.WARNING)
    asyncio.run(_run(options, os.environ["FEED_STORAGE"]))
    return 0


async def _run(options: argparse.Namespace, storage: str) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    options.data.mkdir(parents=True, exist_ok=True)
    progress = Progress(options.data / "position.json")
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=_CONNECTIONS)) as session,
        BlobServiceClient.from_connection_string(storage, retry_total=0) as account,
    ):
        feed = Feed(
            follower=LogFollower(options.log, progress.position),
            progress=progress,
            maker=EventMaker(account),
            subscriptions=_subscriptions(options, Webhook(session, options.webhook)),
        )
        await _serve(feed, options.port, ended)


def _subscriptions(options: argparse.Namespace, webhook: Webhook) -> list[Subscription]:
    subscriptions = [Subscription(prefix=options.prefix, destination=webhook)]
    if options.results_queue:
        queue = Queue(os.environ["FEED_SERVICEBUS"], options.results_queue)
        subscriptions.append(Subscription(prefix=RESULTS, ending="results.jsonl", destination=queue))
    return subscriptions


async def _serve(feed: Feed, port: int, ended: asyncio.Event) -> None:
    runner = web.AppRunner(control(feed), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    running = asyncio.create_task(feed.run())
    waiting = asyncio.create_task(ended.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    try:
        if running.done():
            running.result()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await runner.cleanup()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m local.change_feed", description="Posts the events of Azurite's blobs to a webhook."
    )
    parser.add_argument("--port", type=int, required=True, help="of the knobs; 127.0.0.1 only")
    parser.add_argument("--data", type=Path, required=True, help="folder that keeps the position in the log")
    parser.add_argument("--log", type=Path, required=True, help="Azurite's access log; may not exist yet")
    parser.add_argument("--webhook", required=True, help="where the events are posted to")
    parser.add_argument("--prefix", required=True, help="only subjects that begin with this")
    parser.add_argument("--results-queue", help="the queue for results of batches in our own storage")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

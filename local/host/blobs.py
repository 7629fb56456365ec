"""Blob triggers with Event Grid as their source, in the manner of Microsoft's storage extension.

The webhook only puts the blob's path into a queue of the host's own. From there it is read again (a blob that
is gone is dropped, an ETag is not compared), the function is invoked, and after several failures it is poison.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from azure.core.exceptions import AzureError

from local.host.blob_events import Handshake, read_post
from local.host.blob_inputs import BlobReader
from local.host.blob_paths import BlobPath, PathPattern, compile_path
from local.host.blob_queue import BlobQueue, PendingBlob
from local.host.configuration import Configuration
from local.host.functions import CannotServe, Function
from local.host.invoker import Invoker, log_failure
from local.host.worker import InvocationFailed

log = logging.getLogger(__name__)

WEBHOOK = "/runtime/webhooks/blobs"
_NAME_PREFIX = "Host.Functions."
# The platform makes a failed event due at once; what spaces its tries is the polling of its queue.
_FIRST_RETRY_SECONDS = 0.1
_OUTAGE_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subscriber:
    function: Function
    pattern: PathPattern


class BlobTrigger:
    """Keeps its queue in `folder`."""

    types = frozenset({"blobTrigger"})

    def __init__(self, *, configuration: Configuration, invoker: Invoker, folder: Path) -> None:
        self._configuration = configuration
        self._invoker = invoker
        self._subscribers: dict[str, _Subscriber] = {}
        self._reader = BlobReader()
        self._queue = BlobQueue(folder / "blobs.db")
        self._slots = asyncio.Semaphore(configuration.blobs.concurrent)
        self._added = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()

    def bind(self, function: Function) -> None:
        trigger = function.trigger
        if trigger.get("source") != "EventGrid":
            raise CannotServe("the local host has no blob trigger that scans; give it source=EVENT_GRID")
        pattern = compile_path(self._configuration.resolve(trigger["path"]))
        self._reader.add_account(trigger["connection"], self._configuration.connection(trigger["connection"]))
        self._subscribers[function.name] = _Subscriber(function=function, pattern=pattern)

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.post(WEBHOOK, self._receive)]

    async def start(self) -> None:
        self._pump = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.gather(self._pump, return_exceptions=True)
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=_GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._reader.close()
        self._queue.close()

    async def _receive(self, request: web.Request) -> web.Response:
        name = request.query.get("functionName", "").removeprefix(_NAME_PREFIX)
        subscriber = self._subscribers.get(name)
        if subscriber is None:
            return web.Response(status=404, text=f"there is no blob-triggered function {name!r}")
        try:
            post = read_post(await request.read())
        except ValueError as exc:
            return web.Response(status=400, text=str(exc))
        if isinstance(post, Handshake):
            return web.json_response({"validationResponse": post.code})
        self._enqueue(subscriber, post)
        return web.Response(status=202)

    def _enqueue(self, subscriber: _Subscriber, paths: Iterable[BlobPath]) -> None:
        for path in paths:
            if subscriber.pattern.match(path) is not None:
                self._queue.add(subscriber.function.name, path)
                self._added.set()

    async def _run(self) -> None:
        while True:
            await self._slots.acquire()
            task = asyncio.create_task(self._handle(await self._next()))
            self._running.add(task)
            task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._slots.release()

    async def _next(self) -> PendingBlob:
        while True:
            self._added.clear()
            blob = self._queue.take()
            if blob is not None:
                return blob
            await self._wait_a_little()

    async def _wait_a_little(self) -> None:
        """Until something is added, or long enough for a retry to be due."""
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                await self._added.wait()
        except TimeoutError:
            return

    async def _handle(self, blob: PendingBlob) -> None:
        try:
            await self._invoke(blob)
        except InvocationFailed as failure:
            log_failure(self._subscribers[blob.function].function, failure)
            self._failed(blob, failure.message)
        except AzureError as exc:
            # The platform keeps its queue in the same storage: while that is away, nothing is tried.
            log.warning("blob.unreadable %s: %s", blob.path, type(exc).__name__)
            self._queue.put_back(blob, after_seconds=_OUTAGE_SECONDS, uncounted=True)
        except asyncio.CancelledError:
            self._queue.put_back(blob, after_seconds=0, uncounted=True)
            raise
        except Exception as exc:
            # One event must not get stuck, nor take the others along.
            log.exception("blob.broken %s", blob.path)
            self._failed(blob, f"{type(exc).__name__}: {exc}")

    async def _invoke(self, blob: PendingBlob) -> None:
        subscriber = self._subscribers.get(blob.function)
        tokens = None if subscriber is None else subscriber.pattern.match(blob.path)
        if subscriber is None or tokens is None:
            log.warning("blob.dropped %s: %s does not take it any more", blob.path, blob.function)
            self._queue.settle(blob)
            return
        function = subscriber.function
        given = await self._reader.read(function.trigger, blob.path, tokens)
        if given is None:
            log.info("blob.gone %s", blob.path)
        else:
            await self._invoker(function, given.data, metadata=given.metadata)
        self._queue.settle(blob)

    def _failed(self, blob: PendingBlob, reason: str) -> None:
        if blob.tries < self._configuration.blobs.tries:
            self._queue.put_back(blob, after_seconds=_FIRST_RETRY_SECONDS * 2 ** (blob.tries - 1))
            return
        log.error("blob.poison %s: %s failed %d times", blob.path, blob.function, blob.tries)
        self._queue.bury(blob, reason=reason)

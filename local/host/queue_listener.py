"""Receives the messages of one queue for one function, and settles them by what comes of the calls."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.aio import AutoLockRenewer, ServiceBusClient, ServiceBusReceiver
from azure.servicebus.exceptions import MessageLockLostError

from local.host.configuration import ServiceBusLimits
from local.host.functions import Function
from local.host.invoker import Invoker, log_failure
from local.host.service_bus_data import body_of, metadata_of
from local.host.worker import InvocationFailed

log = logging.getLogger(__name__)

# How long one look for a message lasts; a stop waits for it.
_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 3.0
_GRACE_SECONDS = 5.0
# A settlement outlasts a restart of the broker, which keeps the locks.
_RETRIES, _RETRY_FACTOR = 3, 0.4


class QueueListener:
    """As many receivers as calls may run at once, each of which has one message at a time.

    The SDK's receivers must not be used by two tasks at once; a receiver of its own for each call is what
    keeps receiving, renewing and settling apart.
    """

    def __init__(
        self,
        *,
        function: Function,
        queue: str,
        connection: str,
        limits: ServiceBusLimits,
        invoker: Invoker,
    ) -> None:
        self._function = function
        self._queue = queue
        self._connection = connection
        self._limits = limits
        self._invoker = invoker
        # One for all: a connection that makes its own reads all the world's certificates, encrypted or not.
        self._certificates = ssl.create_default_context()
        self._stopping = asyncio.Event()
        # Assumed, so that a broker that is not there from the start is told of.
        self._connected = True
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._keep_receiving()) for _ in range(self._limits.concurrent_calls)
        ]

    async def stop(self) -> None:
        """Receive no more; calls that run get a few seconds, then their messages are abandoned."""
        self._stopping.set()
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=_GRACE_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep_receiving(self) -> None:
        """One connection after the other, until the host stops."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._stopping.is_set():
            try:
                async with self._receiver() as receiver:
                    pause = _FIRST_PAUSE_SECONDS
                    self._found()
                    await self._receive(receiver)
            except Exception as exc:  # noqa: BLE001 - the SDK lets errors of all kinds out when a broker dies
                self._lost(exc)
                await self._rest(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _found(self) -> None:
        if not self._connected:
            log.info("queue.found_again %s", self._queue)
        self._connected = True

    def _lost(self, exc: Exception) -> None:
        """Said once, not by every receiver again and again."""
        if self._connected:
            log.warning("queue.lost %s: %s: %s", self._queue, type(exc).__name__, exc)
        self._connected = False

    @contextlib.asynccontextmanager
    async def _receiver(self) -> AsyncIterator[ServiceBusReceiver]:
        async with (
            ServiceBusClient.from_connection_string(
                self._connection,
                retry_total=_RETRIES,
                retry_backoff_factor=_RETRY_FACTOR,
                ssl_context=self._certificates,
            ) as client,
            AutoLockRenewer(max_lock_renewal_duration=self._limits.renew_for.total_seconds()) as renewer,
            client.get_queue_receiver(
                self._queue, prefetch_count=self._prefetch, auto_lock_renewer=renewer
            ) as receiver,
        ):
            yield receiver

    @property
    def _prefetch(self) -> int:
        """This receiver's part of what the function may hold in advance."""
        return self._limits.prefetch // self._limits.concurrent_calls

    async def _receive(self, receiver: ServiceBusReceiver) -> None:
        while not self._stopping.is_set():
            for message in await receiver.receive_messages(max_message_count=1, max_wait_time=_LOOK_SECONDS):
                await self._handle(receiver, message)

    async def _handle(self, receiver: ServiceBusReceiver, message: ServiceBusReceivedMessage) -> None:
        try:
            await self._invoker(self._function, body_of(message), metadata=metadata_of(message))
        except InvocationFailed as failure:
            log_failure(self._function, failure)
            await self._settle(receiver.abandon_message, message)
        except asyncio.CancelledError:
            await self._settle(receiver.abandon_message, message)
            raise
        else:
            await self._settle(receiver.complete_message, message)

    async def _settle(
        self,
        settlement: Callable[[ServiceBusReceivedMessage], Awaitable[None]],
        message: ServiceBusReceivedMessage,
    ) -> None:
        try:
            await settlement(message)
        except MessageLockLostError:
            # The broker delivers it again, or has already.
            log.warning("message.lock_lost %s: %s", self._function.name, message.message_id)

    async def _rest(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

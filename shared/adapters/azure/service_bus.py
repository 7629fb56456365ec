"""Messages on an Azure Service Bus queue."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from azure.core.credentials_async import AsyncTokenCredential
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender
from azure.servicebus.exceptions import (
    MessageSizeExceededError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusError,
)

from shared.adapters.azure.connections import Identity, PerLoop, credential_of, quiet_sdk_logs
from shared.adapters.limits import check_message
from shared.domain.errors import GiveUp, NotAdmitted, PosternError, TryAgainLater
from shared.ports.clock import Clock
from shared.ports.queue import DeadLetter, Message

# Opening a link costs half a second of the SDK's own sleeps, so the senders stay open.
SENDERS: Final = 4
# Messages of 4 KB at most with what the service adds to them: below the 256 KB that the standard tier takes at
# once (Microsoft's "Service Bus quotas", read 2026-11-30).
TOGETHER: Final = 40
_SEND_SECONDS: Final = 30
# Of a message whose time the service does not tell.
NEVER: Final = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class BusNamespace:
    """A namespace by connection string, or by its host name to be reached with the identity."""

    connection_string: str | None = field(default=None, repr=False)
    host: str | None = None
    identity: Identity = Identity()  # noqa: RUF009 a frozen value


class AzureServiceBusQueue:
    """Costs nothing until the first message. A call that fails for a passing reason is repeated `retries` times.

    The SDK's senders must not be shared by tasks: there are a few, and each sends at most `TOGETHER` at a time.
    """

    def __init__(
        self,
        namespace: BusNamespace,
        queue: str,
        clock: Clock,
        *,
        retries: int = 2,
        make_credential: Callable[[], AsyncTokenCredential] | None = None,
    ) -> None:
        quiet_sdk_logs()
        self._namespace = namespace
        self._queue = queue
        self._clock = clock
        self._retries = retries
        self._credential = PerLoop(make_credential or (lambda: credential_of(namespace.identity)))
        self._senders = PerLoop(lambda: _Senders(self._client(), queue))

    async def send(self, message: Message, *, delay: timedelta | None = None) -> None:
        check_message(message)
        due = self._clock.now() + delay if delay is not None and delay > timedelta(0) else None
        sent = ServiceBusMessage(
            message.body,
            message_id=message.id,
            correlation_id=message.correlation_id,
            application_properties={name: value for name, value in message.properties.items()},  # noqa: C416
            content_type="application/json",
            scheduled_enqueue_time_utc=due,
        )
        try:
            await self._senders.here().send(sent)
        except ServiceBusError as exc:
            raise _to_error(exc, f"message {message.id!r} to queue {self._queue!r}") from exc

    async def is_empty(self) -> bool:
        try:
            return not await self._senders.here().peek(None, 1, 1)
        except ServiceBusError as exc:
            raise _to_error(exc, f"a look at queue {self._queue!r}") from exc

    async def dead_letters(self, *, start: int = 0, limit: int = 100) -> Sequence[DeadLetter]:
        try:
            return [
                _letter(each)
                for each in await self._senders.here().peek(
                    ServiceBusSubQueue.DEAD_LETTER, max(start, 1), limit
                )
            ]
        except ServiceBusError as exc:
            raise _to_error(exc, f"dead letters of queue {self._queue!r}") from exc

    async def close(self) -> None:
        """Close what the running loop has opened."""
        await self._senders.close()
        await self._credential.close()

    def _client(self) -> ServiceBusClient:
        if self._namespace.connection_string:
            return ServiceBusClient.from_connection_string(
                self._namespace.connection_string, retry_total=self._retries, retry_backoff_max=5
            )
        return ServiceBusClient(
            self._namespace.host or "",
            self._credential.here(),
            retry_total=self._retries,
            retry_backoff_max=5,
        )


class _Senders:
    """What comes while every sender is busy goes out together: a flood's messages hold up nobody for long."""

    def __init__(self, client: ServiceBusClient, queue: str) -> None:
        self._client = client
        self._queue = queue
        self._idle: list[ServiceBusSender] = []
        self._waiting: list[_Waiting] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def send(self, message: ServiceBusMessage) -> None:
        waiting = _Waiting(message=message, sent=asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._begin()
        await waiting.sent

    def _begin(self) -> None:
        while self._waiting and len(self._sending) < SENDERS:
            some, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
            task = asyncio.create_task(self._send(some))
            self._sending.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        self._begin()

    async def _send(self, some: "Sequence[_Waiting]") -> None:
        sender: ServiceBusSender | None = None
        try:
            sender = self._idle.pop() if self._idle else self._client.get_queue_sender(self._queue)
            await sender.send_messages([each.message for each in some], timeout=_SEND_SECONDS)
        except BaseException as exc:
            for each in some:
                each.fail(exc)
            # Its link may be broken, or in the middle of something.
            if sender is not None:
                await sender.close()
            if not isinstance(exc, Exception):
                raise
            return
        self._idle.append(sender)
        for each in some:
            each.succeed()

    async def peek(
        self, sub_queue: ServiceBusSubQueue | None, start: int, limit: int
    ) -> list[ServiceBusReceivedMessage]:
        """Asked for a few times an hour, so its link does not stay open."""
        async with self._client.get_queue_receiver(self._queue, sub_queue=sub_queue) as receiver:
            return await receiver.peek_messages(
                max_message_count=limit, sequence_number=start, timeout=_SEND_SECONDS
            )

    async def close(self) -> None:
        await asyncio.gather(*self._sending, return_exceptions=True)
        for sender in self._idle:
            await sender.close()
        self._idle.clear()
        await self._client.close()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Waiting:
    """A message, and whoever waits for it to be taken; they may have given up by then."""

    message: ServiceBusMessage
    sent: asyncio.Future[None]

    def succeed(self) -> None:
        if not self.sent.done():
            self.sent.set_result(None)

    def fail(self, why: BaseException) -> None:
        if not self.sent.done():
            self.sent.set_exception(why)


def _letter(message: ServiceBusReceivedMessage) -> DeadLetter:
    return DeadLetter(
        sequence=message.sequence_number or 0,
        body=b"".join(message.body),
        sent_at=message.enqueued_time_utc or NEVER,
        reason=message.dead_letter_reason or "",
        description=message.dead_letter_error_description or "",
    )


def _to_error(exc: ServiceBusError, what: str) -> PosternError:
    reason = type(exc).__name__
    match exc:
        case ServiceBusAuthenticationError() | ServiceBusAuthorizationError():
            return NotAdmitted(f"{what}: access refused ({reason}); check the identity's roles or the key")
        case MessageSizeExceededError():
            return GiveUp(f"{what}: refused ({reason})")
        case _:
            return TryAgainLater(f"{what}: not taken ({reason})")

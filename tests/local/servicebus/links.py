"""Every link the SDK tests need, opened at once: each costs half a second of the SDK's own sleeps."""

from typing import Any

from azure.servicebus import ServiceBusReceivedMessage, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender

QUICK = {"lockDuration": "PT2S", "maxDeliveryCount": 3}
PREMIUM_KILOBYTES = 4096
QUEUES: dict[str, dict[str, Any]] = {
    "roundtrip": {},
    "batches": {},
    "large": {"maxMessageSizeInKilobytes": PREMIUM_KILOBYTES},
    "poison": {"maxDeliveryCount": 3},
    "buried": {},
    "expiring-lock": QUICK,
    "renewed-lock": {**QUICK, "lockDuration": "PT5S"},
    "deferred": {},
    "scheduled": {},
    "peeked": {},
    "duplicates": {"duplicateDetectionHistoryTimeWindow": "PT1H"},
    "short-lived": {"deadLetteringOnMessageExpiration": True},
    "deleted": {},
    "many": {},
    "prefetched": {},
    "counted": {},
    "orphaned": {},
}
WITH_DEAD_LETTERS = ("poison", "buried", "short-lived")
OWN_RECEIVERS = ("deleted", "many", "prefetched", "orphaned")
SOON = 60
ALREADY = 0.3


class Links:
    """Open senders and receivers, one of each for a queue."""

    def __init__(self, client: ServiceBusClient) -> None:
        self.client = client
        self._senders = {name: client.get_queue_sender(name) for name in QUEUES}
        self._receivers = {
            name: client.get_queue_receiver(name) for name in QUEUES if name not in OWN_RECEIVERS
        }
        self._dead_letters = {
            name: client.get_queue_receiver(name, sub_queue=ServiceBusSubQueue.DEAD_LETTER)
            for name in WITH_DEAD_LETTERS
        }

    def all(self) -> list[ServiceBusSender | ServiceBusReceiver]:
        return [*self._senders.values(), *self._receivers.values(), *self._dead_letters.values()]

    def sender(self, queue: str) -> ServiceBusSender:
        return self._senders[queue]

    def receiver(self, queue: str) -> ServiceBusReceiver:
        return self._receivers[queue]

    def dead_letters(self, queue: str) -> ServiceBusReceiver:
        return self._dead_letters[queue]


async def one(receiver: ServiceBusReceiver, *, within: float = SOON) -> ServiceBusReceivedMessage:
    (message,) = await receiver.receive_messages(1, max_wait_time=within)
    return message


async def exactly(receiver: ServiceBusReceiver, count: int) -> list[ServiceBusReceivedMessage]:
    """Receiving may return early with fewer."""
    messages: list[ServiceBusReceivedMessage] = []
    while len(messages) < count:
        messages += (got := await receiver.receive_messages(count - len(messages), max_wait_time=SOON))
        assert got, f"only {len(messages)} of {count} messages came"
    return messages


async def is_empty(receiver: ServiceBusReceiver) -> bool:
    return not await receiver.receive_messages(1, max_wait_time=ALREADY)


def body_of(message: ServiceBusReceivedMessage) -> bytes:
    return b"".join(message.body)

"""The two ends of a link as we hold them: deliveries come in on one kind and go out on the other."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from local.servicebus.amqp.performatives import Flow, Transfer
from local.servicebus.amqp.values import UInt
from local.servicebus.errors import too_large

CREDIT = 1000
SERIAL = 1 << 32


class Delivery(NamedTuple):
    """`size` is that of the whole delivery; `encoded` stops growing past the limit of the link."""

    delivery_id: UInt
    message_format: int
    settled: bool
    size: int
    encoded: bytes


class IncomingLink:
    """The client sends. `accept(message_format, encoded)` keeps what arrived or raises `Refused`."""

    def __init__(self, *, handle: UInt, max_message_bytes: int, accept: Callable[[int, bytes], None]) -> None:
        self.handle = handle
        self.credit = 0
        self.delivery_count = 0
        self._max_message_bytes = max_message_bytes
        self._accept = accept
        self._first: Transfer | None = None
        self._parts = bytearray()
        self._size = 0

    def collect(self, transfer: Transfer, payload: bytes) -> Delivery | None:
        """The delivery once its last frame is here. Memory stays within the limit of the link."""
        first = self._first = self._first or transfer
        self._size += len(payload)
        if self._size <= self._max_message_bytes:
            self._parts += payload
        if transfer.more and not transfer.aborted:
            return None
        delivery = Delivery(
            delivery_id=first.delivery_id or UInt(0),
            message_format=first.message_format or 0,
            settled=bool(first.settled or transfer.settled),
            size=self._size,
            encoded=bytes(self._parts),
        )
        self._first, self._parts, self._size = None, bytearray(), 0
        self.credit -= 1
        self.delivery_count = (self.delivery_count + 1) % SERIAL
        return None if transfer.aborted else delivery

    def accept(self, delivery: Delivery) -> None:
        if delivery.size > self._max_message_bytes:
            raise too_large(delivery.size, self._max_message_bytes)
        self._accept(delivery.message_format, delivery.encoded)

    def top_up(self) -> bool:
        """Whether there is new credit to tell the client about."""
        if self.credit > CREDIT // 2:
            return False
        self.credit = CREDIT
        return True


@dataclass(slots=True, kw_only=True)
class OutgoingLink:
    """The client receives. `path` is the node it reads, `reply_to` the address it wants replies under."""

    handle: UInt
    path: str
    reply_to: str
    credit: int = 0
    delivery_count: int = 0
    is_open: bool = True

    def grant(self, flow: Flow) -> None:
        """Credit counts from what the client has seen: deliveries under way have used up some of it."""
        if flow.link_credit is None:
            return
        granted = (flow.delivery_count or 0) + flow.link_credit - self.delivery_count
        self.credit = max(0, (granted + SERIAL // 2) % SERIAL - SERIAL // 2)

    def spend(self, credit: int) -> None:
        self.credit -= credit
        self.delivery_count = (self.delivery_count + credit) % SERIAL

"""What a session sends: frames within the client's window, and the register of what is not settled yet."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple, Protocol
from uuid import UUID

from local.servicebus.amqp.frames import write_frame
from local.servicebus.amqp.performatives import Begin, Flow, Performative, Transfer
from local.servicebus.amqp.values import UInt
from local.servicebus.broker import Entity
from local.servicebus.links import SERIAL, OutgoingLink

WINDOW = UInt(0x7FFFFFFF)
FRAME_OVERHEAD = 128
MESSAGE_FORMAT = UInt(0)


class Wire(Protocol):
    """The connection, as a session sees it."""

    @property
    def peer_max_frame_size(self) -> int: ...

    @property
    def is_congested(self) -> bool: ...

    def write(self, data: bytes) -> None: ...


class Unsettled(NamedTuple):
    """A delivery that the client has and has not decided about."""

    entity: Entity
    token: UUID


class Outbound:
    def __init__(self, wire: Wire, channel: int, begin: Begin) -> None:
        self._wire = wire
        self._channel = channel
        self._window = int(begin.incoming_window)
        self._next_transfer_id = 0
        self._next_delivery_id = 0
        self._held: deque[bytes] = deque()
        self._unsettled: dict[int, Unsettled] = {}

    def write(self, performative: Performative) -> None:
        self._wire.write(write_frame(self._channel, performative))

    def has_room(self) -> bool:
        return not self._held and self._window > 0 and not self._wire.is_congested

    def transfer(
        self, link: OutgoingLink, payload: bytes, *, tag: bytes, unsettled: Unsettled | None
    ) -> None:
        """Without `unsettled` the delivery is settled as it leaves."""
        first = Transfer(
            link.handle,
            UInt(self._next_delivery_id),
            tag,
            MESSAGE_FORMAT,
            settled=unsettled is None,
        )
        if unsettled is not None:
            self._unsettled[self._next_delivery_id] = unsettled
        self._next_delivery_id = (self._next_delivery_id + 1) % SERIAL
        for frame in self._frames(first, payload):
            self._held.append(frame)
        self._send_held()

    def open_window(self, flow: Flow) -> None:
        """The client says how many frames it takes beyond those that it has seen."""
        seen = flow.next_incoming_id or 0
        self._window = (seen + flow.incoming_window - self._next_transfer_id) % SERIAL
        self._send_held()

    def flow(
        self, next_incoming_id: int, handle: UInt, delivery_count: int, credit: int, *, drain: bool
    ) -> None:
        self.write(
            Flow(
                UInt(next_incoming_id),
                WINDOW,
                UInt(self._next_transfer_id),
                WINDOW,
                handle=handle,
                delivery_count=UInt(delivery_count),
                link_credit=UInt(credit),
                available=UInt(0),
                drain=drain,
            )
        )

    def take_unsettled(self, first: int, last: int) -> Iterator[tuple[UInt, Unsettled | None]]:
        """The deliveries of a range, which are then no longer registered; None for an unknown single one."""
        if first == last:
            yield UInt(first), self._unsettled.pop(first, None)
            return
        for delivery_id in sorted(known for known in self._unsettled if first <= known <= last):
            yield UInt(delivery_id), self._unsettled.pop(delivery_id)

    def close(self) -> None:
        self._held.clear()
        self._unsettled.clear()

    def _frames(self, first: Transfer, payload: bytes) -> Iterator[bytes]:
        room = self._wire.peer_max_frame_size - FRAME_OVERHEAD
        later = Transfer(first.handle, settled=first.settled)
        for start in range(0, max(len(payload), 1), room):
            transfer = (later if start else first)._replace(more=start + room < len(payload))
            yield write_frame(self._channel, transfer, payload[start : start + room])

    def _send_held(self) -> None:
        # A client whose window is overrun by even one frame never opens it again.
        while self._held and self._window > 0:
            self._wire.write(self._held.popleft())
            self._window -= 1
            self._next_transfer_id = (self._next_transfer_id + 1) % SERIAL

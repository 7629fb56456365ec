"""Who gets the next message, and how much at once; and what a link does with credit and frames."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.servicebus.amqp.frames import Frame, FrameReader
from local.servicebus.amqp.performatives import Begin, Flow, Transfer
from local.servicebus.amqp.values import UInt
from local.servicebus.broker import Entity
from local.servicebus.definitions import Queue
from local.servicebus.dispatch import DELIVERIES_A_TURN
from local.servicebus.errors import Refused
from local.servicebus.links import IncomingLink, OutgoingLink
from local.servicebus.messages import Stored
from local.servicebus.outbound import Outbound, Unsettled
from local.servicebus.outlet import QueueOutlet
from tests.local.servicebus.builders import Bench, a_message, body_of


class Taker:
    """A receiver with so much room."""

    def __init__(self, entity: Entity, room: int, *, deletes: bool = False) -> None:
        self.entity = entity
        self.deletes = deletes
        self.room = room
        self.got: list[Stored] = []

    def has_room(self) -> bool:
        return self.room > 0

    def reserve(self) -> None:
        self.room -= 1

    def deliver(self, stored: Stored) -> None:
        self.got.append(stored)


class Pipe:
    """A wire that keeps what is written."""

    def __init__(self, *, peer_max_frame_size: int = 65536) -> None:
        self.peer_max_frame_size = peer_max_frame_size
        self.is_congested = False
        self._reader = FrameReader(max_frame_size=65536)

    def write(self, data: bytes) -> None:
        self._reader.feed(data)

    def frames(self) -> list[Frame]:
        return list(iter(self._reader.frame, None))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "servicebus.db", {"documents": Queue()})
    yield bench
    bench.lose_power()


def send(bench: Bench, count: int) -> None:
    bench.broker.send(bench.queue(), [a_message(str(n).encode()) for n in range(count)])


def test_receivers_of_a_queue_take_turns(bench: Bench) -> None:
    first, second = Taker(bench.queue(), 10), Taker(bench.queue(), 10)
    bench.dispatch.add(first)
    bench.dispatch.add(second)

    send(bench, 6)
    bench.turn.finish()

    assert [len(first.got), len(second.got)] == [3, 3]


def test_a_full_receiver_is_passed_over_and_the_rest_waits(bench: Bench) -> None:
    full, free = Taker(bench.queue(), 0), Taker(bench.queue(), 2)
    bench.dispatch.add(full)
    bench.dispatch.add(free)

    send(bench, 3)
    bench.turn.finish()

    assert [body_of(stored) for stored in free.got] == [b"0", b"1"]
    assert bench.broker.counts(bench.queue()).locked == 2


def test_a_delivery_is_on_disk_before_it_leaves(bench: Bench) -> None:
    taker = Taker(bench.queue(), 1)
    bench.dispatch.add(taker)

    send(bench, 1)
    assert taker.got == []
    bench.turn.finish()

    assert [stored.lock_token is not None for stored in taker.got] == [True]
    assert not bench.database.in_transaction


def test_a_receiver_that_deletes_leaves_nothing_behind(bench: Bench) -> None:
    taker = Taker(bench.queue(), 5, deletes=True)
    bench.dispatch.add(taker)

    send(bench, 2)
    bench.turn.finish()

    assert [stored.lock_token for stored in taker.got] == [None, None]
    assert list(bench.broker.peek(bench.queue(), 1, 10)) == []


def test_a_long_queue_is_handed_over_a_bounded_part_at_a_time(bench: Bench) -> None:
    taker = Taker(bench.queue(), 1000)
    bench.dispatch.add(taker)
    send(bench, DELIVERIES_A_TURN + 5)

    bench.turn.finish()
    assert len(taker.got) == DELIVERIES_A_TURN
    bench.turn.finish()
    assert len(taker.got) == DELIVERIES_A_TURN + 5


def test_a_link_that_closed_in_the_meantime_gives_the_message_back_uncounted(bench: Bench) -> None:
    link = OutgoingLink(handle=UInt(0), path="documents", reply_to="", credit=1)
    outbound = Outbound(Pipe(), 0, Begin(None, UInt(0), UInt(100), UInt(100)))
    outlet = QueueOutlet(
        broker=bench.broker, entity=bench.queue(), deletes=False, link=link, outbound=outbound
    )
    bench.dispatch.add(outlet)
    send(bench, 1)

    bench.turn.after_commit(lambda: None)
    link_closes_before_the_commit(bench, link)
    bench.turn.finish()

    again = bench.broker.lock(bench.queue())
    assert again is not None
    assert again.delivery_count == 0


def link_closes_before_the_commit(bench: Bench, link: OutgoingLink) -> None:
    def close() -> None:
        link.is_open = False

    bench.turn.before_commit(close)


def test_credit_counts_what_is_under_way_and_survives_the_wrap_of_the_counter() -> None:
    link = OutgoingLink(handle=UInt(0), path="documents", reply_to="", delivery_count=2**32 - 2)
    link.grant(a_flow(delivery_count=2**32 - 2, credit=5))
    link.spend(4)

    link.grant(a_flow(delivery_count=2**32 - 1, credit=5))

    assert (link.delivery_count, link.credit) == (2, 2)


def test_credit_taken_back_below_what_is_under_way_is_no_credit() -> None:
    link = OutgoingLink(handle=UInt(0), path="documents", reply_to="", delivery_count=7)

    link.grant(a_flow(delivery_count=5, credit=1))

    assert link.credit == 0


def test_a_large_message_leaves_in_frames_that_the_peer_can_take_within_its_window() -> None:
    pipe = Pipe(peer_max_frame_size=512)
    outbound = Outbound(pipe, 3, Begin(None, UInt(0), UInt(2), UInt(2)))
    link = OutgoingLink(handle=UInt(9), path="documents", reply_to="", credit=1)

    outbound.transfer(link, bytes(1500), tag=b"t", unsettled=None)
    early = pipe.frames()
    assert not outbound.has_room()
    outbound.open_window(a_flow(next_incoming_id=2, window=50))
    late = pipe.frames()

    assert len(early) == 2
    transfers = [frame.performative for frame in early + late]
    assert all(isinstance(transfer, Transfer) for transfer in transfers)
    assert [transfer.more for transfer in transfers if isinstance(transfer, Transfer)] == [
        True,
        True,
        True,
        False,
    ]
    assert b"".join(frame.payload for frame in early + late) == bytes(1500)
    assert outbound.has_room()


def test_a_range_of_deliveries_is_taken_once(bench: Bench) -> None:
    outbound = Outbound(Pipe(), 0, Begin(None, UInt(0), UInt(100), UInt(100)))
    link = OutgoingLink(handle=UInt(0), path="documents", reply_to="", credit=9)
    send(bench, 3)
    for _ in range(3):
        stored = bench.broker.lock(bench.queue())
        assert stored is not None
        assert stored.lock_token is not None
        outbound.transfer(link, b"x", tag=b"t", unsettled=Unsettled(bench.queue(), stored.lock_token))

    assert [delivery_id for delivery_id, _ in outbound.take_unsettled(0, 2**32 - 1)] == [0, 1, 2]
    assert list(outbound.take_unsettled(1, 1)) == [(1, None)]


def test_an_oversize_delivery_is_refused_without_being_held_in_memory() -> None:
    kept: list[bytes] = []
    link = IncomingLink(handle=UInt(0), max_message_bytes=100, accept=lambda _, encoded: kept.append(encoded))
    for _ in range(50):
        assert link.collect(Transfer(UInt(0), UInt(0), more=True), bytes(60)) is None

    delivery = link.collect(Transfer(UInt(0)), bytes(60))

    assert delivery is not None
    assert (delivery.size, len(delivery.encoded)) == (51 * 60, 60)
    with pytest.raises(Refused, match="3060 bytes; the link takes at most 100"):
        link.accept(delivery)
    assert kept == []


def test_an_aborted_delivery_leaves_no_trace() -> None:
    link = IncomingLink(handle=UInt(0), max_message_bytes=100, accept=lambda _, __: None)
    link.collect(Transfer(UInt(0), UInt(0), more=True), b"half a mess")

    assert link.collect(Transfer(UInt(0), aborted=True), b"") is None
    delivery = link.collect(Transfer(UInt(0), UInt(1)), b"whole")

    assert delivery is not None
    assert (delivery.delivery_id, delivery.encoded) == (1, b"whole")


def a_flow(*, delivery_count: int = 0, credit: int = 0, next_incoming_id: int = 0, window: int = 100) -> Flow:
    return Flow(
        UInt(next_incoming_id),
        UInt(window),
        UInt(0),
        UInt(100),
        handle=UInt(0),
        delivery_count=UInt(delivery_count),
        link_credit=UInt(credit),
    )

"""What the unmodified `azure-servicebus` SDK gets from the emulator over a socket.

All links are shared; every test has a queue of its own instead.
"""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.servicebus import (
    ServiceBusMessage,
    ServiceBusMessageState,
    ServiceBusReceiveMode,
)
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import (
    MessageLockLostError,
    MessageNotFoundError,
    MessageSizeExceededError,
    ServiceBusError,
)

from tests.local.servicebus.links import (
    PREMIUM_KILOBYTES,
    QUEUES,
    Links,
    body_of,
    exactly,
    is_empty,
    one,
)
from tests.local.servicebus.process import Emulator, running, with_policies

pytestmark = [pytest.mark.stack, pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with running(tmp_path_factory.mktemp("servicebus"), with_policies(QUEUES)) as emulator:
        yield emulator


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def links(emulator: Emulator) -> AsyncIterator[Links]:
    async with ServiceBusClient.from_connection_string(emulator.connection_string(), retry_total=0) as client:
        links = Links(client)
        await asyncio.gather(*(link.__aenter__() for link in links.all()))
        yield links
        await asyncio.gather(*(link.__aexit__() for link in links.all()))


async def test_a_message_arrives_with_everything_it_was_sent_with(links: Links) -> None:
    tag = uuid.uuid4()
    await links.sender("roundtrip").send_messages(
        ServiceBusMessage(
            b"\x00\x01body",
            message_id="id-1",
            correlation_id="correlation-1",
            subject="subject",
            content_type="application/json",
            to="to",
            reply_to="reply",
            partition_key="key",
            time_to_live=timedelta(hours=1),
            application_properties={"text": "x", "whole": -7, "real": 1.5, "flag": True, "tag": tag},
        )
    )

    receiver = links.receiver("roundtrip")
    message = await one(receiver)

    assert body_of(message) == b"\x00\x01body"
    assert (message.message_id, message.correlation_id) == ("id-1", "correlation-1")
    assert (message.subject, message.content_type) == ("subject", "application/json")
    assert (message.to, message.reply_to, message.partition_key) == ("to", "reply", "key")
    assert message.time_to_live == timedelta(hours=1)
    assert message.application_properties == {
        b"text": b"x",
        b"whole": -7,
        b"real": 1.5,
        b"flag": True,
        b"tag": tag,
    }
    assert (message.delivery_count, message.sequence_number) == (0, 1)
    assert message.enqueued_time_utc is not None
    assert abs(message.enqueued_time_utc - datetime.now(UTC)) < timedelta(seconds=30)
    assert message.locked_until_utc is not None
    assert message.locked_until_utc - message.enqueued_time_utc >= timedelta(minutes=5)
    await receiver.complete_message(message)
    assert await is_empty(receiver)


async def test_a_full_batch_goes_in_at_once_and_an_oversize_message_is_refused(
    links: Links, emulator: Emulator
) -> None:
    sender = links.sender("batches")
    batch = await sender.create_message_batch()
    assert batch.max_size_in_bytes == 256 * 1024
    for _ in range(100):
        batch.add_message(ServiceBusMessage(bytes(2000)))
    await sender.send_messages(batch)

    with pytest.raises(MessageSizeExceededError):
        await sender.send_messages(ServiceBusMessage(bytes(300 * 1024)))

    await sender.send_messages(ServiceBusMessage("the link is still alive"))
    assert emulator.counts("batches")["active"] == 101


async def test_a_message_of_many_frames_arrives_whole(links: Links) -> None:
    content = bytes(range(256)) * 4 * (PREMIUM_KILOBYTES - 1)
    await links.sender("large").send_messages(ServiceBusMessage(content))

    receiver = links.receiver("large")
    message = await one(receiver)

    assert body_of(message) == content
    await receiver.complete_message(message)


async def test_a_message_abandoned_too_often_is_dead_lettered(links: Links) -> None:
    await links.sender("poison").send_messages(
        ServiceBusMessage("poison", message_id="p", application_properties={"kept": "yes"})
    )

    receiver = links.receiver("poison")
    for expected in range(3):
        message = await one(receiver)
        assert message.delivery_count == expected
        await receiver.abandon_message(message)

    assert await is_empty(receiver)
    dead = await one(links.dead_letters("poison"))
    assert (dead.message_id, dead.delivery_count) == ("p", 3)
    assert dead.dead_letter_reason == "MaxDeliveryCountExceeded"
    assert dead.application_properties is not None
    assert dead.application_properties[b"kept"] == b"yes"
    await links.dead_letters("poison").complete_message(dead)


async def test_a_dead_lettered_message_carries_reason_and_description(links: Links) -> None:
    await links.sender("buried").send_messages(ServiceBusMessage("bad"))

    receiver = links.receiver("buried")
    await receiver.dead_letter_message(
        await one(receiver), reason="SchemaInvalid", error_description="no field x"
    )

    cemetery = links.dead_letters("buried")
    dead = await one(cemetery)
    assert (dead.dead_letter_reason, dead.dead_letter_error_description) == ("SchemaInvalid", "no field x")
    await cemetery.abandon_message(dead)
    await cemetery.complete_message(await one(cemetery))


async def test_an_expired_lock_redelivers_and_the_old_one_settles_nothing(links: Links) -> None:
    await links.sender("expiring-lock").send_messages(ServiceBusMessage("slow"))

    receiver = links.receiver("expiring-lock")
    first = await one(receiver)
    second = await one(receiver)

    assert (second.sequence_number, second.delivery_count) == (first.sequence_number, 1)
    # The SDK would not even ask: make it believe that the lock is still good.
    first._expiry = datetime.now(UTC) + timedelta(hours=1)
    with pytest.raises(MessageLockLostError):
        await receiver.complete_message(first)
    with pytest.raises(MessageLockLostError):
        await receiver.renew_message_lock(first)
    await receiver.complete_message(second)


async def test_a_renewed_lock_keeps_the_message_beyond_its_first_lock(links: Links) -> None:
    await links.sender("renewed-lock").send_messages(ServiceBusMessage("long work"))

    receiver = links.receiver("renewed-lock")
    message = await one(receiver)
    first_until = message.locked_until_utc
    assert first_until is not None

    async def renew() -> None:
        while datetime.now(UTC) < first_until + timedelta(seconds=0.5):
            await receiver.renew_message_lock(message)
            await asyncio.sleep(0.5)

    redelivered, _ = await asyncio.gather(receiver.receive_messages(1, max_wait_time=6), renew())

    assert redelivered == []
    await receiver.complete_message(message)


async def test_a_deferred_message_is_received_by_its_number(links: Links) -> None:
    await links.sender("deferred").send_messages(ServiceBusMessage("later"))

    receiver = links.receiver("deferred")
    message = await one(receiver)
    assert message.sequence_number is not None
    await receiver.defer_message(message)
    assert await is_empty(receiver)
    (seen,) = await receiver.peek_messages(10, sequence_number=1)
    assert seen.state is ServiceBusMessageState.DEFERRED

    (found,) = await receiver.receive_deferred_messages(message.sequence_number)
    await receiver.complete_message(found)

    with pytest.raises(MessageNotFoundError):
        await receiver.receive_deferred_messages(message.sequence_number)


async def test_scheduled_messages_come_in_their_time_unless_cancelled(links: Links) -> None:
    sender, receiver = links.sender("scheduled"), links.receiver("scheduled")
    at = datetime.now(UTC) + timedelta(seconds=1.5)
    kept, cancelled = await sender.schedule_messages(
        [ServiceBusMessage("kept"), ServiceBusMessage("not")], at
    )
    await sender.send_messages(ServiceBusMessage("sent", scheduled_enqueue_time_utc=at))
    seen = await receiver.peek_messages(10, sequence_number=1)
    assert [message.state for message in seen] == [ServiceBusMessageState.SCHEDULED] * 3

    await sender.cancel_scheduled_messages(cancelled)
    with pytest.raises(MessageNotFoundError):
        await sender.cancel_scheduled_messages(cancelled)
    assert await is_empty(receiver)

    messages = await exactly(receiver, 2)
    assert sorted(str(message) for message in messages) == ["kept", "sent"]
    assert all(message.enqueued_time_utc and message.enqueued_time_utc >= at for message in messages)
    assert all(message.sequence_number and message.sequence_number > kept for message in messages)
    await asyncio.gather(*map(receiver.complete_message, messages))


async def test_peeking_shows_messages_without_taking_them(links: Links, emulator: Emulator) -> None:
    await links.sender("peeked").send_messages([ServiceBusMessage(str(n)) for n in range(3)])

    receiver = links.receiver("peeked")
    seen = await receiver.peek_messages(10, sequence_number=1)

    assert [str(message) for message in seen] == ["0", "1", "2"]
    assert await receiver.peek_messages(10) == []
    assert emulator.counts("peeked")["locked"] == 0


async def test_a_message_id_is_taken_once_within_the_window(links: Links) -> None:
    sender, receiver = links.sender("duplicates"), links.receiver("duplicates")
    await sender.send_messages(ServiceBusMessage("one", message_id="same"))
    await sender.send_messages(
        [ServiceBusMessage("two", message_id="same"), ServiceBusMessage("three", message_id="other")]
    )

    messages = await exactly(receiver, 2)
    await asyncio.gather(*map(receiver.complete_message, messages))
    await sender.send_messages(ServiceBusMessage("after completion", message_id="same"))

    assert [str(message) for message in messages] == ["one", "three"]
    assert await is_empty(receiver)


async def test_a_message_that_outlives_its_time_is_dead_lettered(links: Links) -> None:
    await links.sender("short-lived").send_messages(
        ServiceBusMessage("stale", time_to_live=timedelta(milliseconds=200))
    )

    dead = await one(links.dead_letters("short-lived"))

    assert dead.dead_letter_reason == "TTLExpiredException"
    await links.dead_letters("short-lived").complete_message(dead)


async def test_receive_and_delete_leaves_nothing(links: Links, emulator: Emulator) -> None:
    await links.sender("deleted").send_messages(ServiceBusMessage("once"))

    async with links.client.get_queue_receiver(
        "deleted", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
    ) as receiver:
        assert str(await one(receiver)) == "once"

    assert emulator.counts("deleted")["active"] == 0


async def test_concurrent_receivers_share_a_queue_without_loss_or_double(links: Links) -> None:
    total = 200
    await links.sender("many").send_messages([ServiceBusMessage(str(n)) for n in range(total)])
    seen: list[str] = []

    async def work() -> None:
        async with links.client.get_queue_receiver("many") as receiver:
            while messages := await receiver.receive_messages(20, max_wait_time=0.5):
                await asyncio.gather(*map(receiver.complete_message, messages))
                seen.extend(map(str, messages))

    await asyncio.gather(*(work() for _ in range(2)))

    assert sorted(seen, key=int) == [str(n) for n in range(total)]


async def test_closing_a_receiver_gives_prefetched_messages_back_uncounted(
    links: Links, emulator: Emulator
) -> None:
    await links.sender("prefetched").send_messages([ServiceBusMessage(str(n)) for n in range(5)])

    async with links.client.get_queue_receiver("prefetched", prefetch_count=5) as receiver:
        await receiver.complete_message(await one(receiver))

    assert emulator.counts("prefetched") == {
        "name": "prefetched",
        "active": 4,
        "locked": 0,
        "deferred": 0,
        "scheduled": 0,
        "dead_letter": 0,
    }
    async with links.client.get_queue_receiver("prefetched") as receiver:
        assert [message.delivery_count for message in await exactly(receiver, 4)] == [0] * 4


async def test_a_client_that_dies_leaves_its_message_locked(links: Links, emulator: Emulator) -> None:
    await links.sender("orphaned").send_messages(ServiceBusMessage("in work"))
    receiver = links.client.get_queue_receiver("orphaned")
    await one(receiver)

    handler: Any = receiver._handler
    handler._connection._transport.writer.transport.abort()
    with contextlib.suppress(ServiceBusError):
        await receiver.close()

    assert emulator.counts("orphaned")["locked"] == 1


async def test_counts_follow_what_happens_to_the_messages(links: Links, emulator: Emulator) -> None:
    sender, receiver = links.sender("counted"), links.receiver("counted")
    await sender.send_messages([ServiceBusMessage(str(n)) for n in range(3)])
    await sender.schedule_messages(ServiceBusMessage("later"), datetime.now(UTC) + timedelta(hours=1))
    await receiver.dead_letter_message(await one(receiver), reason="because")
    await one(receiver)

    counts = emulator.counts("counted")

    assert (counts["active"], counts["locked"]) == (2, 1)
    assert (counts["scheduled"], counts["dead_letter"]) == (1, 1)

"""What every queue promises, in memory and on the local Service Bus."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from azure.servicebus.aio import ServiceBusClient

from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.service_bus import SENDERS, TOGETHER, AzureServiceBusQueue, BusNamespace
from shared.adapters.memory.queue import MemoryQueue
from shared.domain.errors import NotAdmitted, TryAgainLater
from shared.ports.queue import Message, Queue
from tests.local.servicebus.process import Emulator, running, with_policies

QUEUE = "documents"
SOON = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bus:
    """`received` waits for this many messages, or until nothing comes for the time given; `bury` gives one up."""

    queue: Queue
    received: Callable[[int, float], Awaitable[list[Message]]]
    bury: Callable[[str, str], Awaitable[None]]


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with running(tmp_path_factory.mktemp("bus"), with_policies({QUEUE: {}})) as emulator:
        yield emulator


@pytest.fixture(params=["memory", pytest.param("emulator", marks=pytest.mark.stack)])
async def bus(request: pytest.FixtureRequest) -> AsyncIterator[Bus]:
    if request.param == "memory":
        memory = MemoryQueue(SystemClock())
        yield Bus(
            queue=memory,
            received=lambda count, within: from_memory(memory, count, within),
            bury=lambda reason, description: bury_in_memory(memory, reason, description),
        )
        return
    emulator: Emulator = request.getfixturevalue("emulator")
    queue = AzureServiceBusQueue(
        BusNamespace(connection_string=emulator.connection_string()), QUEUE, SystemClock()
    )
    yield Bus(
        queue=queue,
        received=lambda count, within: from_emulator(emulator, count, within),
        bury=lambda reason, description: bury_in_emulator(emulator, reason, description),
    )
    await queue.close()


async def from_memory(queue: MemoryQueue, count: int, within: float) -> list[Message]:
    messages: list[Message] = []
    async with asyncio.timeout(within) as limit:
        while len(messages) < count:
            if (delivery := queue.receive()) is None:
                if limit.expired():
                    break
                await asyncio.sleep(0.01)
                continue
            queue.complete(delivery)
            messages.append(delivery.message)
    return messages


async def from_emulator(emulator: Emulator, count: int, within: float) -> list[Message]:
    client = ServiceBusClient.from_connection_string(emulator.connection_string())
    async with client, client.get_queue_receiver(QUEUE) as receiver:
        messages: list[Message] = []
        while len(messages) < count:
            got = await receiver.receive_messages(count - len(messages), max_wait_time=within)
            if not got:
                raise TimeoutError
            for one in got:
                properties = one.application_properties or {}
                messages.append(
                    Message(
                        id=str(one.message_id),
                        body=b"".join(one.body),
                        correlation_id=str(one.correlation_id),
                        properties={_text(name): _text(value) for name, value in properties.items()},
                    )
                )
                await receiver.complete_message(one)
        return messages


async def bury_in_memory(queue: MemoryQueue, reason: str, description: str) -> None:
    delivery = queue.receive()
    assert delivery is not None
    queue.bury(delivery, reason, description)


async def bury_in_emulator(emulator: Emulator, reason: str, description: str) -> None:
    client = ServiceBusClient.from_connection_string(emulator.connection_string())
    async with client, client.get_queue_receiver(QUEUE) as receiver:
        [message] = await receiver.receive_messages(1, max_wait_time=SOON)
        await receiver.dead_letter_message(message, reason=reason, error_description=description)


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def a_message(**changes: object) -> Message:
    given = {"id": uuid4().hex, "body": b'{"a":1}', "correlation_id": "c-1", **changes}
    return Message(**given)  # type: ignore[arg-type]  # a test knows what it passes


async def test_a_message_arrives_as_it_was_sent(bus: Bus) -> None:
    sent = a_message(body="日本語 \0 bytes".encode(), properties={"tenant": "support"})
    await bus.queue.send(sent)
    assert await bus.received(1, SOON) == [sent]


async def test_the_largest_message_is_taken_and_a_larger_one_refused(bus: Bus) -> None:
    largest = a_message(id="i" * 128, body=b"x" * 4096)
    await bus.queue.send(largest)
    for wrong in (a_message(body=b"x" * 4097), a_message(id="i" * 129), a_message(id="")):
        with pytest.raises(ValueError, match="message"):
            await bus.queue.send(wrong)
    assert await bus.received(1, SOON) == [largest]


async def test_a_second_message_with_the_same_id_is_dropped(bus: Bus) -> None:
    first, other = a_message(), a_message()
    await bus.queue.send(first)
    await bus.queue.send(first)
    await bus.queue.send(a_message(id=first.id, body=b"another"))
    await bus.queue.send(first, delay=timedelta(seconds=1))
    await bus.queue.send(other)
    assert await bus.received(2, SOON) == [first, other]


async def test_a_delayed_message_comes_after_its_delay(bus: Bus) -> None:
    late, now = a_message(), a_message()
    await bus.queue.send(late, delay=timedelta(seconds=1.5))
    await bus.queue.send(now, delay=timedelta(seconds=-5))
    sent_at = asyncio.get_running_loop().time()
    assert await bus.received(1, SOON) == [now]
    assert await bus.received(1, SOON) == [late]
    assert asyncio.get_running_loop().time() - sent_at > 0.9


async def test_many_tasks_may_send_at_once(bus: Bus) -> None:
    messages = [a_message(id=f"{uuid4().hex}-{n}") for n in range(40)]
    await asyncio.gather(*(bus.queue.send(message) for message in messages))
    received = await bus.received(40, SOON)
    assert sorted(m.id for m in received) == sorted(m.id for m in messages)


async def test_a_queue_is_empty_when_nothing_waits_not_even_for_later(bus: Bus) -> None:
    assert await bus.queue.is_empty()

    await bus.queue.send(a_message(), delay=timedelta(seconds=1.5))
    assert not await bus.queue.is_empty()

    assert len(await bus.received(1, SOON)) == 1
    assert await bus.queue.is_empty()


async def test_what_was_given_up_is_seen_with_its_reason_and_stays(bus: Bus) -> None:
    start = max((each.sequence for each in await bus.queue.dead_letters()), default=0) + 1
    assert list(await bus.queue.dead_letters(start=start)) == []
    for n in range(3):
        await bus.queue.send(a_message(body=b"%d" % n))
        await bus.bury(f"reason-{n}", "in words")

    seen = await bus.queue.dead_letters(start=start)

    told = [(each.body, each.reason, each.description) for each in seen]
    assert told == [(b"%d" % n, f"reason-{n}", "in words") for n in range(3)]
    assert [each.sequence for each in seen] == sorted(each.sequence for each in seen)
    assert await bus.queue.dead_letters(start=start) == seen
    assert [e.body for e in await bus.queue.dead_letters(start=start, limit=1)] == [b"0"]
    assert [e.body for e in await bus.queue.dead_letters(start=seen[0].sequence + 1)] == [b"1", b"2"]
    sent = [each.sent_at for each in seen]
    assert sent == sorted(sent)
    assert datetime.now(UTC) - sent[0] < timedelta(minutes=5)


# The adapter alone


@pytest.mark.stack
# The SDK drops the sockets of a server that died without closing them.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_a_broker_that_comes_back_is_sent_to_again(tmp_path: Path) -> None:
    with running(tmp_path, with_policies({QUEUE: {}})) as emulator:
        queue = AzureServiceBusQueue(
            BusNamespace(connection_string=emulator.connection_string()), QUEUE, SystemClock(), retries=0
        )
        first, second = a_message(), a_message()
        await queue.send(first)
        emulator.kill()
        with pytest.raises(TryAgainLater, match=first.id):
            await queue.send(first)
        emulator.start()
        await queue.send(second)
        await queue.close()
        assert await from_emulator(emulator, 2, SOON) == [first, second]
    gc.collect()


@pytest.mark.stack
async def test_a_key_that_may_not_send_is_not_admitted(emulator: Emulator) -> None:
    may_only_listen = BusNamespace(connection_string=emulator.connection_string("listener", "listener-key"))
    queue = AzureServiceBusQueue(may_only_listen, QUEUE, SystemClock(), retries=0)
    with pytest.raises(NotAdmitted, match="access refused") as caught:
        await queue.send(a_message())
    await queue.close()
    assert "listener-key" not in str(caught.value)


def test_the_secret_stays_out_of_what_is_printed() -> None:
    assert "secret" not in repr(BusNamespace(connection_string="Endpoint=sb://x;SharedAccessKey=secret"))


@pytest.mark.stack
async def test_what_comes_while_senders_are_busy_goes_out_together_and_whole(emulator: Emulator) -> None:
    queue = AzureServiceBusQueue(
        BusNamespace(connection_string=emulator.connection_string()), QUEUE, SystemClock()
    )
    messages = [a_message(id=f"{uuid4().hex}-{n}", body=b"x" * 4096) for n in range(3 * SENDERS * TOGETHER)]

    await asyncio.gather(*(queue.send(message) for message in messages))

    await queue.close()
    received = await from_emulator(emulator, len(messages), SOON)
    assert sorted(m.id for m in received) == sorted(m.id for m in messages)


async def test_a_namespace_that_is_not_there_is_told_to_everybody_who_sends() -> None:
    nowhere = "Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true"
    queue = AzureServiceBusQueue(BusNamespace(connection_string=nowhere), QUEUE, SystemClock(), retries=0)

    sent = await asyncio.gather(*(queue.send(a_message()) for _ in range(10)), return_exceptions=True)

    await queue.close()
    assert [type(each) for each in sent] == [TryAgainLater] * 10

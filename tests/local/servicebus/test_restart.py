"""kill -9, SIGTERM, and what a client finds afterwards."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusReceiver, ServiceBusSender
from azure.servicebus.exceptions import ServiceBusError

from tests.local.servicebus.process import Emulator, running, with_policies

# The SDK drops the sockets of a server that died without closing them.
pytestmark = [pytest.mark.stack, pytest.mark.filterwarnings("ignore::ResourceWarning")]

QUEUES: dict[str, dict[str, Any]] = {
    "held": {"lockDuration": "PT5S"},
    "storm": {"lockDuration": "PT3S", "maxDeliveryCount": 100},
}
KILLS = 3
MESSAGES = 300
DEADLINE_SECONDS = 60


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator[Emulator]:
    with running(tmp_path, with_policies(QUEUES)) as emulator:
        yield emulator


@pytest.fixture(autouse=True)
def forgotten_sockets_are_collected_here() -> Iterator[None]:
    """And not in some later test that would be blamed for them."""
    yield
    gc.collect()


@contextlib.asynccontextmanager
async def client_of(emulator: Emulator, *, retries: int = 0) -> AsyncIterator[ServiceBusClient]:
    text = emulator.connection_string()
    async with ServiceBusClient.from_connection_string(text, retry_total=retries) as client:
        yield client


async def test_what_was_locked_at_a_kill_stays_locked_for_its_time_and_can_still_be_completed(
    emulator: Emulator,
) -> None:
    async with (
        client_of(emulator, retries=3) as client,
        client.get_queue_sender("held") as sender,
        client.get_queue_receiver("held", prefetch_count=2) as receiver,
    ):
        await sender.send_messages([ServiceBusMessage("finished"), ServiceBusMessage("forgotten")])
        finished = await one(receiver)
        forgotten = await one(receiver)

        emulator.kill()
        emulator.start()

        assert emulator.counts("held")["locked"] == 2
        await receiver.complete_message(finished)
        assert emulator.counts("held")["active"] == 1
        again = await one(receiver)
        assert (again.sequence_number, again.delivery_count) == (forgotten.sequence_number, 1)
        assert forgotten.locked_until_utc is not None
        assert datetime.now(UTC) >= forgotten.locked_until_utc - timedelta(milliseconds=50)
        await receiver.complete_message(again)


async def one(receiver: ServiceBusReceiver) -> ServiceBusReceivedMessage:
    (message,) = await receiver.receive_messages(1, max_wait_time=15)
    return message


class Storm:
    """Senders and a worker that go on whatever happens, and what they were told."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._numbers = count()
        self.acknowledged: set[str] = set()
        self.delivered: set[str] = set()
        self.completed: set[str] = set()
        self.came_back: list[str] = []
        self.is_drained = asyncio.Event()

    async def keep_sending(self) -> None:
        while len(self.acknowledged) < MESSAGES:
            with contextlib.suppress(ServiceBusError):
                async with client_of(self._emulator) as client, client.get_queue_sender("storm") as sender:
                    while len(self.acknowledged) < MESSAGES:
                        await self._send(sender, 1)
                        await self._send(sender, 10)

    async def keep_completing(self) -> None:
        while not self.is_drained.is_set():
            with contextlib.suppress(ServiceBusError):
                async with client_of(self._emulator) as client, client.get_queue_receiver("storm") as worker:
                    while not self.is_drained.is_set():
                        await self._complete_some(worker)

    async def until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not reached():
            assert time.monotonic() < deadline, f"stuck at {len(self.acknowledged)}, {len(self.completed)}"
            await asyncio.sleep(0.02)

    async def _send(self, sender: ServiceBusSender, size: int) -> None:
        names = [str(next(self._numbers)) for _ in range(size)]
        await sender.send_messages([ServiceBusMessage(bytes(500), message_id=name) for name in names])
        self.acknowledged.update(names)

    async def _complete_some(self, worker: ServiceBusReceiver) -> None:
        for message in await worker.receive_messages(20, max_wait_time=0.5):
            name = str(message.message_id)
            self.delivered.add(name)
            if name in self.completed:
                self.came_back.append(name)
            await worker.complete_message(message)
            self.completed.add(name)


async def test_kills_in_the_middle_of_traffic_lose_no_acknowledged_send_and_bring_nothing_back(
    emulator: Emulator,
) -> None:
    storm = Storm(emulator)
    traffic = [asyncio.create_task(storm.keep_sending()) for _ in range(2)]
    traffic.append(asyncio.create_task(storm.keep_completing()))

    for kill in range(1, KILLS + 1):
        share = kill * MESSAGES // (KILLS + 1)
        await storm.until(lambda share=share: len(storm.acknowledged) >= share)  # type: ignore[misc]
        emulator.kill()
        emulator.start()
    await storm.until(lambda: len(storm.acknowledged) >= MESSAGES and emulator.counts("storm")["active"] == 0)
    storm.is_drained.set()
    await asyncio.gather(*traffic)

    assert storm.acknowledged - storm.delivered == set()
    assert storm.came_back == []
    assert emulator.counts("storm")["dead_letter"] == 0


async def test_sigterm_ends_it_cleanly_under_a_client_and_stdout_stays_empty(emulator: Emulator) -> None:
    async with client_of(emulator) as client, client.get_queue_sender("held") as sender:
        await sender.send_messages(ServiceBusMessage("kept"))
        assert emulator.stop() == 0
        emulator.start()

    assert emulator.counts("held")["active"] == 1
    assert (emulator.folder / "stdout").read_bytes() == b""
    assert "servicebus.ready" in emulator.log()
    assert "Traceback" not in emulator.log()


def test_a_taken_port_is_a_message_and_not_a_traceback(emulator: Emulator, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "local.servicebus", "--port", str(emulator.port)]

    second = subprocess.run([*command, "--data", str(tmp_path / "other")], capture_output=True, timeout=20)

    assert second.returncode == 1
    assert b"servicebus.failed" in second.stderr
    assert b"Traceback" not in second.stderr
    assert second.stdout == b""

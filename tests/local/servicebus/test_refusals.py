"""What is refused and why, to the SDK, to HTTP and to nonsense."""

import asyncio
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import (
    MessagingEntityNotFoundError,
    ServiceBusAuthenticationError,
    ServiceBusAuthorizationError,
    ServiceBusError,
)

from tests.local.servicebus.process import Emulator, running, with_policies

pytestmark = pytest.mark.stack

QUEUES: dict[str, dict[str, Any]] = {"documents": {}, "storage-events": {}}
NONSENSE = (b"AMQP\x00\x01\x00\x00" + b"\xff" * 64, b"AMQP!?!?", b"\x16\x03\x01\r\n\r\n")


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with running(tmp_path_factory.mktemp("servicebus"), with_policies(QUEUES)) as emulator:
        yield emulator


async def test_counts_of_all_queues_and_of_none(emulator: Emulator) -> None:
    base = f"http://127.0.0.1:{emulator.port}"
    async with aiohttp.ClientSession() as http:
        async with http.get(f"{base}/queues") as answer:
            assert [queue["name"] for queue in (await answer.json())["queues"]] == list(QUEUES)
        async with http.get(f"{base}/queues/nowhere") as answer:
            assert answer.status == 404
            assert "'nowhere' could not be found" in (await answer.json())["detail"]
        async with http.get(f"{base}/topics") as answer:
            assert answer.status == 404


async def test_a_client_that_talks_nonsense_is_hung_up_on_and_disturbs_nobody(emulator: Emulator) -> None:
    text = emulator.connection_string()
    async with (
        ServiceBusClient.from_connection_string(text, retry_total=0) as client,
        client.get_queue_sender("documents") as sender,
    ):
        for nonsense in NONSENSE:
            reader, writer = await asyncio.open_connection("127.0.0.1", emulator.port)
            writer.write(nonsense)
            await asyncio.wait_for(reader.read(), 5)
            writer.close()
            await writer.wait_closed()

        await sender.send_messages(ServiceBusMessage("undisturbed"))

    assert emulator.counts("documents")["active"] == 1


async def test_what_may_not_be_opened_says_why(emulator: Emulator) -> None:
    """Together, for the SDK takes its time over each refusal."""

    async def refusal(
        queue: str, *, sends: bool, key: str = "app", secret: str | None = None, **options: Any
    ) -> Exception:
        text = emulator.connection_string(key, secret or f"{key}-key")
        async with ServiceBusClient.from_connection_string(text, retry_total=0) as client:
            link = client.get_queue_sender(queue) if sends else client.get_queue_receiver(queue, **options)
            with pytest.raises(ServiceBusError) as refused:
                async with link:
                    pass
            return refused.value

    refusals = await asyncio.gather(
        refusal("nowhere", sends=True),
        refusal("nowhere", sends=False),
        refusal("documents", sends=True, secret="guess"),
        refusal("documents", sends=True, key="listener"),
        refusal("documents", sends=False, key="sender"),
        refusal("documents", sends=False, session_id="s"),
    )

    assert [type(refused) for refused in refusals[:5]] == [
        MessagingEntityNotFoundError,
        MessagingEntityNotFoundError,
        ServiceBusAuthenticationError,
        ServiceBusAuthorizationError,
        ServiceBusAuthorizationError,
    ]
    assert "does not offer sessions" in str(refusals[5])


async def test_a_right_that_is_there_is_enough(emulator: Emulator) -> None:
    async def use(key: str, *, sends: bool) -> None:
        text = emulator.connection_string(key, f"{key}-key")
        async with ServiceBusClient.from_connection_string(text, retry_total=0) as client:
            link = client.get_queue_sender("documents") if sends else client.get_queue_receiver("documents")
            async with link:
                pass

    await asyncio.gather(use("sender", sends=True), use("listener", sends=False))

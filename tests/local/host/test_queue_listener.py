"""The receivers of one function, against the local broker."""

import asyncio
import ssl
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient

from local.host.configuration import ServiceBusLimits
from local.host.functions import Function
from local.host.invoker import Invoker
from local.host.messages import InvocationResponse, TypedData
from local.host.queue_listener import QueueListener
from tests.local.host.observations import until
from tests.local.servicebus.process import running, with_policies

pytestmark = pytest.mark.stack

QUEUE = "orders"
CALLS = 8


class AllAtOnce(Invoker):
    """Ends no call before `CALLS` of them run side by side."""

    def __init__(self) -> None:
        self._all_run = asyncio.Barrier(CALLS)

    async def __call__(
        self,
        function: Function,
        data: TypedData,
        *,
        metadata: Mapping[str, TypedData] | None = None,
        invocation_id: str | None = None,
    ) -> InvocationResponse:
        await self._all_run.wait()
        return InvocationResponse()


@pytest.fixture
def certificates_read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every time that a bundle of certificates was read since."""
    read: list[object] = []
    really = ssl.SSLContext.load_verify_locations

    def load_verify_locations(context: ssl.SSLContext, *args: Any, **named: Any) -> None:
        read.append(args or named)
        really(context, *args, **named)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", load_verify_locations)
    return read


async def test_receivers_do_not_read_the_worlds_certificates_one_by_one(
    tmp_path: Path, certificates_read: list[object]
) -> None:
    limits = ServiceBusLimits(concurrent_calls=CALLS, prefetch=0, renew_for=timedelta(minutes=1))
    function = Function(name="process", id="1", bindings=({"type": "serviceBusTrigger", "name": "m"},))
    with running(tmp_path, with_policies({QUEUE: {}})) as broker:
        async with (
            ServiceBusClient.from_connection_string(broker.connection_string()) as client,
            client.get_queue_sender(QUEUE) as sender,
        ):
            await sender.send_messages([ServiceBusMessage("x") for _ in range(CALLS)])
        certificates_read.clear()
        listener = QueueListener(
            function=function,
            queue=QUEUE,
            connection=broker.connection_string(),
            limits=limits,
            invoker=AllAtOnce(),
        )
        listener.start()
        await until(lambda: broker.counts(QUEUE)["active"] == 0, "every message is dealt with")
        await listener.stop()

    assert len(certificates_read) <= 1

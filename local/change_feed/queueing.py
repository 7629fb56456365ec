"""Sends events to a Service Bus queue until it takes them."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.exceptions import ServiceBusError

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.5


class Queue:
    def __init__(self, connection: str, name: str) -> None:
        self._connection = connection
        self._name = name

    async def deliver(self, event: dict[str, Any]) -> bool:
        """True when it was taken. Waits for ever for a broker that is down."""
        message = ServiceBusMessage(json.dumps([event]), message_id=str(event["id"]))
        while True:
            try:
                async with (
                    ServiceBusClient.from_connection_string(self._connection, retry_total=0) as client,
                    client.get_queue_sender(self._name) as sender,
                ):
                    await sender.send_messages(message)
            except (ServiceBusError, OSError, ValueError) as error:
                log.info("event.queue_down %s", type(error).__name__)
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                return True

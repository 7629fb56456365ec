"""A host with blob and Service Bus functions, with real storage and a broker of its own behind it."""

import contextlib
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient
from azure.storage.blob import BlobServiceClient, ContainerClient

from tests.local.host.host_process import HERE, HostProcess
from tests.local.host.observations import Observations
from tests.local.servicebus.process import Emulator, running, with_policies
from tests.support.azurite import Azurite

QUEUE = "orders"
QUEUES = {QUEUE: {"lockDuration": "PT5S", "maxDeliveryCount": 3}}


class TriggerStage:
    """`seen` is what the functions wrote down."""

    def __init__(self, folder: Path, azurite: Azurite, broker: Emulator) -> None:
        self.seen = Observations(folder / "log.jsonl")
        self.broker = broker
        self.blob_url = azurite.blob_url
        self._storage = BlobServiceClient.from_connection_string(azurite.connection_string)
        settings = {
            "SAMPLE_LOG": str(folder / "log.jsonl"),
            "POSTERN_STORAGE": azurite.connection_string,
            "SAMPLE_CONTAINER": "texts",
            "ServiceBusConnection": broker.connection_string(),
            "SAMPLE_QUEUE": QUEUE,
            "AzureWebJobs.switched_off.Disabled": "true",
        }
        self.host = HostProcess(HERE / "trigger_app", folder=folder, settings=settings)

    def container(self, name: str) -> ContainerClient:
        container = self._storage.get_container_client(name)
        if not container.exists():
            container.create_container()
        return container

    def drop(self, container: str, name: str, content: bytes = b"content", **metadata: str) -> None:
        """Put a blob; nothing tells the host of it."""
        self.container(container).upload_blob(name, content, overwrite=True, metadata=metadata)

    def tell(self, function: str, container: str, *names: str) -> int:
        """Post one notification about these blobs, as Event Grid does; gives the status."""
        return self.post(function, [self.event(f"{container}/{name}") for name in names])[0]

    def event(self, path: str) -> dict[str, Any]:
        url = f"{self.blob_url}/{quote(path)}"
        return {
            "id": path,
            "eventType": "Microsoft.Storage.BlobCreated",
            "data": {"api": "PutBlob", "url": url},
        }

    def post(self, function: str, content: object) -> tuple[int, bytes]:
        request = urllib.request.Request(
            f"{self.host.url}/runtime/webhooks/blobs?functionName=Host.Functions.{function}",
            data=json.dumps(content).encode(),
            headers={"Content-Type": "application/json", "aeg-event-type": "Notification"},
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read()

    async def send(self, *orders: dict[str, Any], **properties: Any) -> None:
        """Queue messages; each tells the function what to do, and has its order's id."""
        messages = [
            ServiceBusMessage(json.dumps(order), **{"message_id": order["id"], **properties})
            for order in orders
        ]
        async with (
            ServiceBusClient.from_connection_string(self.broker.connection_string()) as client,
            client.get_queue_sender(QUEUE) as sender,
        ):
            await sender.send_messages(messages)

    def close(self) -> None:
        self.host.end()
        self._storage.close()


@contextlib.contextmanager
def trigger_stage(folder: Path, azurite: Azurite) -> Iterator[TriggerStage]:
    with running(folder, with_policies(QUEUES)) as broker:
        stage = TriggerStage(folder, azurite, broker)
        try:
            stage.host.wait_until_ready()
            yield stage
        finally:
            stage.close()

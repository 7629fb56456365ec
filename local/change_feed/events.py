"""The event that Event Grid would make of a change: its schema, with the data of a storage account."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobServiceClient

from local.change_feed.access_log import Change
from local.change_feed.follower import Position

_TOPIC = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/local"
    "/providers/Microsoft.Storage/storageAccounts/devstoreaccount1"
)


class EventMaker:
    """Asks storage for what the log does not tell: it gets the newest version's properties."""

    def __init__(self, storage: BlobServiceClient) -> None:
        self._storage = storage

    async def make(self, change: Change, begins: Position) -> dict[str, Any]:
        """The same event, with the same id, whenever it is made of the same line. Raises `AzureError`."""
        sequencer = f"{begins.generation:016X}{begins.offset:016X}"
        blob = self._storage.get_blob_client(change.container, change.name)
        address = self._storage.url.split("/", 3)
        data: dict[str, Any] = {
            "api": change.api,
            "requestId": str(uuid.uuid5(uuid.NAMESPACE_OID, f"request {sequencer}")),
            "url": f"{address[0]}//{address[2]}/{change.raw_path}",
            "sequencer": sequencer,
        }
        try:
            data |= _facts(await blob.get_blob_properties())
        except ResourceNotFoundError:
            # Gone again. The event was true when the log was written, and it is sent.
            data |= {"eTag": "", "contentLength": 0, "contentType": "", "blobType": "BlockBlob"}
        return {
            "id": str(uuid.uuid5(uuid.NAMESPACE_OID, sequencer)),
            "topic": _TOPIC,
            "subject": subject_of(change),
            "eventType": "Microsoft.Storage.BlobCreated",
            "eventTime": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "dataVersion": "",
            "metadataVersion": "1",
            "data": data,
        }


def subject_of(change: Change) -> str:
    return f"/blobServices/default/containers/{change.container}/blobs/{change.name}"


def _facts(properties: BlobProperties) -> dict[str, Any]:
    return {
        # As in Azure: without the quotes that HTTP puts around it.
        "eTag": str(properties.etag).strip('"'),
        "contentLength": properties.size,
        "contentType": properties.content_settings.content_type,
        "blobType": properties.blob_type.value,
    }

"""What a blob-triggered function is given: a reference, or for plain types the whole content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from local.host.blob_paths import BlobPath
from local.host.functions import Binding
from local.host.messages import ModelBindingData, TypedData


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobInput:
    data: TypedData
    metadata: Mapping[str, TypedData]


class BlobReader:
    """Reads from the accounts that triggers name. Open until `close`."""

    def __init__(self) -> None:
        self._accounts: dict[str, BlobServiceClient] = {}

    def add_account(self, setting: str, connection: str) -> None:
        if setting not in self._accounts:
            # The caller tries again by itself; the library's patience would only hide an outage from it.
            self._accounts[setting] = BlobServiceClient.from_connection_string(connection, retry_total=0)

    async def close(self) -> None:
        for account in self._accounts.values():
            await account.close()

    async def read(self, binding: Binding, path: BlobPath, tokens: Mapping[str, str]) -> BlobInput | None:
        """None when the blob is gone. Raises `AzureError` when storage does not answer."""
        blob = self._accounts[binding["connection"]].get_blob_client(path.container, path.name)
        try:
            properties = await blob.get_blob_properties()
            data = _reference(binding, path) if _takes_reference(binding) else await _content(blob)
        except ResourceNotFoundError:
            return None
        return BlobInput(data=data, metadata=_metadata(blob, path, properties, tokens))


def _takes_reference(binding: Binding) -> bool:
    """Whether the parameter is of an SDK type, which reads the content itself or not at all."""
    return bool(binding.get("properties", {}).get("SupportsDeferredBinding", False))


def _reference(binding: Binding, path: BlobPath) -> TypedData:
    content = {"Connection": binding["connection"], "ContainerName": path.container, "BlobName": path.name}
    return TypedData(
        model_binding_data=ModelBindingData(
            version="1.0",
            source="AzureStorageBlobs",
            content_type="application/json",
            content=json.dumps(content).encode(),
        )
    )


async def _content(blob: BlobClient) -> TypedData:
    # Whole, as on the platform: `InputStream`, `bytes` and `str` travel inside the invocation.
    return TypedData(bytes=await (await blob.download_blob()).readall())


def _metadata(
    blob: BlobClient, path: BlobPath, properties: BlobProperties, tokens: Mapping[str, str]
) -> Mapping[str, TypedData]:
    values: Mapping[str, Any] = {
        "Uri": blob.url,
        "Properties": {
            "ContentLength": properties.size,
            "ContentType": properties.content_settings.content_type,
            "ETag": properties.etag,
            "BlobType": str(properties.blob_type),
            "CreatedOn": properties.creation_time.isoformat(),
            "LastModified": properties.last_modified.isoformat(),
        },
        "Metadata": dict(properties.metadata or {}),
    }
    return {
        "BlobTrigger": TypedData(string=str(path)),
        **{name: TypedData(json=json.dumps(value)) for name, value in values.items()},
        **{name: TypedData(string=value) for name, value in tokens.items()},
    }

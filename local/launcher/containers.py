"""The containers that a deployment has before anybody comes: clients write into them on their own."""

from __future__ import annotations

from contextlib import suppress

from azure.core.exceptions import AzureError, ResourceExistsError
from azure.storage.blob.aio import BlobServiceClient

CONTAINERS = ("documents", "inputs", "jobs", "results", "uploads")


async def make_containers(storage: str) -> bool:
    """Whether all are there now. `storage` is a connection string."""
    try:
        async with BlobServiceClient.from_connection_string(storage, retry_total=0) as service:
            for name in CONTAINERS:
                with suppress(ResourceExistsError):
                    await service.create_container(name)
    except AzureError:
        return False
    return True

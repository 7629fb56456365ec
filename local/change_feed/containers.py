"""The containers that an account must have before anybody can drop a blob: in Azure a template creates them."""

from __future__ import annotations

import asyncio

from azure.core.exceptions import AzureError, ResourceExistsError
from azure.storage.blob.aio import BlobServiceClient

_PAUSE_SECONDS = 0.2


async def ensure_container(storage: BlobServiceClient, name: str) -> None:
    """Waits for storage that does not answer yet."""
    while True:
        try:
            await storage.create_container(name)
        except ResourceExistsError:
            return
        except AzureError:
            await asyncio.sleep(_PAUSE_SECONDS)
        else:
            return

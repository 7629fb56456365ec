"""Copies that the service makes."""

import asyncio

from azure.core import MatchConditions
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobClient, ContainerClient

from shared.adapters.azure.containers import with_container
from shared.domain.errors import Conflict, TryAgainLater

_FIRST_POLL_SECONDS = 0.1
_LAST_POLL_SECONDS = 5.0


async def copy_and_wait(
    source_url: str, source_etag: str, target: BlobClient, container: ContainerClient
) -> BlobProperties:
    """The target, once the copy is whole. SDK errors come out as they are."""
    answer = await with_container(
        container,
        lambda: target.start_copy_from_url(
            source_url, source_etag=source_etag, source_match_condition=MatchConditions.IfNotModified
        ),
    )
    return await _finished(target, str(answer["copy_id"]))


async def _finished(target: BlobClient, copy_id: str) -> BlobProperties:
    """Copies inside an account are mostly done at once; large ones may take a while."""
    wait = _FIRST_POLL_SECONDS
    while True:
        found = await target.get_blob_properties()
        if found.copy.id != copy_id:
            raise Conflict(f"blob {target.blob_name!r} was overwritten while it was being copied to")
        if found.copy.status == "success":
            return found
        if found.copy.status != "pending":
            raise TryAgainLater(f"the copy to blob {target.blob_name!r} ended as {found.copy.status}")
        await asyncio.sleep(wait)
        wait = min(wait * 2, _LAST_POLL_SECONDS)

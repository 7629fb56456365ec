"""Containers, created when they are first written to."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob.aio import ContainerClient

from shared.adapters.azure.errors import code_of


async def with_container[Answer](
    container: ContainerClient, write: Callable[[], Awaitable[Answer]]
) -> Answer:
    """Do `write`; if it misses its container, create the container and do it once more.

    Trying first costs nothing when the container is there, and asks for no right to create containers.
    """
    try:
        return await write()
    except ResourceNotFoundError as exc:
        if code_of(exc) != "ContainerNotFound":
            raise
    await _create(container)
    return await write()


async def ensure_container(container: ContainerClient) -> None:
    if not await container.exists():
        await _create(container)


async def _create(container: ContainerClient) -> None:
    with suppress(ResourceExistsError):  # another writer was faster
        await container.create_container()

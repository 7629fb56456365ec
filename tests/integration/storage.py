"""The storage account behind the stack, as an operator looks into it."""

import asyncio
from collections.abc import Awaitable, Callable

from azure.storage.blob.aio import BlobServiceClient


class Storage:
    def __init__(self, connection: str) -> None:
        self._connection = connection

    def write(self, path: str, content: bytes) -> None:
        """`path` begins with the container's name."""

        async def upload(service: BlobServiceClient) -> None:
            container, _, name = path.partition("/")
            await service.get_blob_client(container, name).upload_blob(content, overwrite=True)

        self._run(upload)

    def holding(self, text: str) -> list[str]:
        """Every blob of the account whose content has `text`."""

        async def search(service: BlobServiceClient) -> list[str]:
            found = []
            async for container in service.list_containers():
                client = service.get_container_client(container)
                async for blob in client.list_blobs():
                    content = await (await client.download_blob(blob.name)).readall()
                    if text.encode() in content:
                        found.append(f"{container.name}/{blob.name}")
            return found

        return self._run(search)

    def _run[T](self, act: Callable[[BlobServiceClient], Awaitable[T]]) -> T:
        async def run() -> T:
            async with BlobServiceClient.from_connection_string(self._connection) as service:
                return await act(service)

        return asyncio.run(run())

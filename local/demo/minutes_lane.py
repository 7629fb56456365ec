"""The minutes lane of the demo: drop the documents, wait for the results, copy them."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from azure.core.exceptions import AzureError
from azure.storage.blob.aio import ContainerClient

from local.demo.documents import Document
from local.demo.trouble import DemoFailed
from local.demo.views import DocumentResultView

LOOK_SECONDS = 0.5
PATIENCE_SECONDS = 300.0
# Whose money it is, as blob metadata: the ledger has it on every row.
METADATA = {"project": "documents", "environment": "demo"}

# Told at every look how many results are there.
Watcher = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A document with the result that lay beside it; `file` is a copy."""

    document: Document
    result: DocumentResultView
    file: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class MinutesLane:
    """`storage` is a connection string; results are copied to the same paths below `out`."""

    storage: str
    documents: Sequence[Document]
    out: Path
    watch: Watcher

    async def run(self) -> list[Answered]:
        """All documents, in their order. Raises `DemoFailed` when one has no result in time."""
        try:
            await self._drop()
            async with self._container("results") as results:
                await self._until_all_are_there(results)
                return [await self._fetch(results, document) for document in self.documents]
        except AzureError as exc:
            raise DemoFailed(f"the storage stopped answering: {exc!r}") from exc

    async def _drop(self) -> None:
        async with self._container("documents") as zone:
            for document in self.documents:
                await zone.upload_blob(document.path, document.content(), overwrite=True, metadata=METADATA)

    async def _until_all_are_there(self, results: ContainerClient) -> None:
        awaited = {f"{document.path}.json" for document in self.documents}
        deadline = asyncio.get_running_loop().time() + PATIENCE_SECONDS
        while True:
            there = {name async for name in results.list_blob_names()}
            missing = sorted(awaited - there)
            self.watch(len(awaited) - len(missing), len(awaited))
            if not missing:
                return
            if asyncio.get_running_loop().time() > deadline:
                raise DemoFailed(
                    f"{len(missing)} of {len(awaited)} documents have no result after {PATIENCE_SECONDS:.0f} s,"
                    f" {missing[0]} among them"
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def _fetch(self, results: ContainerClient, document: Document) -> Answered:
        download = await results.download_blob(f"{document.path}.json")
        content = await download.readall()
        file = copy_of(document, self.out)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.format(content, indent=2) + b"\n")
        return Answered(
            document=document, result=msgspec.json.decode(content, type=DocumentResultView), file=file
        )

    def _container(self, name: str) -> ContainerClient:
        return ContainerClient.from_connection_string(self.storage, name)


def copy_of(document: Document, out: Path) -> Path:
    """Where the result of this document is kept below the folder of results."""
    return out / "documents" / f"{document.path}.json"

"""Services that speak OpenAI's files and batches."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import pytest

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import StorageAccount, StorageConnection
from shared.domain.ids import BatchId, FileId
from shared.ports.blobs import Blobs
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Make
from tests.contract.batching.simulated import simulated
from tests.local.simulator.process import Simulator

_SOMEBODY: Final = {"api-key": "somebody else"}


def azure(*, api_version: str | None = None) -> Make:
    return simulated(
        "azure_openai",
        "/azure",
        side_door=lambda url, chunk, file: _side_door(f"{url}/openai/v1", chunk, file),
        estrange=lambda url, batch: _estranged(f"{url}/openai/v1", batch),
        api_version=api_version,
    )


def own_storage() -> Make:
    """Input and output of Azure's batches are blobs in an account of ours."""
    return simulated(
        "azure_openai",
        "/azure",
        side_door=lambda url, chunk, file: _uploaded(f"{url}/openai/v1", chunk),
        estrange=lambda url, batch: _estranged(f"{url}/openai/v1", batch),
        options=lambda url: {"storage": "own"},
        storage=_storage,
    )


@asynccontextmanager
async def _storage(simulator: Simulator) -> AsyncIterator[Blobs]:
    if simulator.storage is None:
        pytest.skip("own storage needs Azurite, which is not installed")
    connection = StorageConnection(StorageAccount(connection_string=simulator.storage))
    yield AzureBlobs(connection, SystemClock())
    await connection.close()


def openai() -> Make:
    return simulated("openai", "/openai/v1", side_door=_side_door, estrange=_estranged)


async def _side_door(url: str, chunk: ChunkInput, file: FileId) -> BatchId:
    wanted = {"input_file_id": file, "endpoint": chunk.endpoint.url, "completion_window": "24h"}
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        made = await client.post(f"{url}/batches", json=wanted)
    return BatchId(made.json()["id"])


async def _uploaded(url: str, chunk: ChunkInput) -> BatchId:
    """Somebody else's batch, with a file."""
    content = b"".join([piece async for piece in chunk.open_lines()])
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        form = {"purpose": "batch"}
        made = await client.post(f"{url}/files", data=form, files={"file": ("a.jsonl", content)})
    return await _side_door(url, chunk, FileId(made.json()["id"]))


async def _estranged(url: str, batch: BatchId) -> Mapping[str, Any]:
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        found = await client.get(f"{url}/batches/{batch}")
    return {**found.json(), "status": "hibernating"}

"""Services that speak OpenAI's files and batches."""

from collections.abc import Mapping
from typing import Any, Final

import httpx2

from shared.domain.ids import BatchId, FileId
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Make
from tests.contract.batching.simulated import simulated

_SOMEBODY: Final = {"api-key": "somebody else"}


def azure(*, api_version: str | None = None) -> Make:
    return simulated(
        "azure_openai",
        "/azure",
        side_door=lambda url, chunk, file: _side_door(f"{url}/openai/v1", chunk, file),
        estrange=lambda url, batch: _estranged(f"{url}/openai/v1", batch),
        api_version=api_version,
    )


def openai() -> Make:
    return simulated("openai", "/openai/v1", side_door=_side_door, estrange=_estranged)


async def _side_door(url: str, chunk: ChunkInput, file: FileId) -> BatchId:
    wanted = {"input_file_id": file, "endpoint": chunk.endpoint.url, "completion_window": "24h"}
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        made = await client.post(f"{url}/batches", json=wanted)
    return BatchId(made.json()["id"])


async def _estranged(url: str, batch: BatchId) -> Mapping[str, Any]:
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        found = await client.get(f"{url}/batches/{batch}")
    return {**found.json(), "status": "hibernating"}

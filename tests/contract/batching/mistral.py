"""Mistral's files and batch jobs."""

from collections.abc import Mapping
from typing import Any, Final

import httpx2

from shared.adapters.memory.provider_rows import Fate
from shared.domain.ids import BatchId, FileId
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Make, Ways
from tests.contract.batching.simulated import simulated

_SOMEBODY: Final = {"authorization": "Bearer somebody else"}
# A model that refuses says so in its answer, and nowhere else.
_WAYS: Final = Ways(codes_failures=False, never=frozenset({Fate.REFUSAL}))


def mistral() -> Make:
    return simulated(
        "mistral",
        "/mistral",
        side_door=_side_door,
        estrange=_estranged,
        ways=_WAYS,
        model="mistral-small-latest",
        deployment="mistral-small-latest",
    )


async def _side_door(url: str, chunk: ChunkInput, file: FileId) -> BatchId:
    wanted = {"input_files": [file], "endpoint": "/v1/chat/completions", "model": "theirs"}
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        made = await client.post(f"{url}/v1/batch/jobs", json=wanted)
    return BatchId(made.json()["id"])


async def _estranged(url: str, batch: BatchId) -> Mapping[str, Any]:
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        found = await client.get(f"{url}/v1/batch/jobs/{batch}")
    return {**found.json(), "status": "HIBERNATING"}

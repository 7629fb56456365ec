"""Anthropic: requests go with the create, and batches carry no key."""

from collections.abc import Mapping
from typing import Any, Final

import httpx2

from shared.domain.ids import BatchId, FileId
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Make, Ways
from tests.contract.batching.simulated import simulated

_SOMEBODY: Final = {"x-api-key": "somebody else"}


def anthropic() -> Make:
    return simulated(
        "anthropic",
        "/anthropic",
        side_door=_side_door,
        estrange=_estranged,
        ways=Ways(keeps_input=False, can_fail=False),
        model="claude-sonnet-5",
        deployment="claude-sonnet-5",
    )


async def _side_door(url: str, chunk: ChunkInput, file: FileId) -> BatchId:
    lines = b"".join([piece async for piece in chunk.open_lines()]).splitlines()
    body = b'{"requests":[' + b",".join(lines) + b"]}"
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        made = await client.post(f"{url}/v1/messages/batches", content=body)
    return BatchId(made.json()["id"])


async def _estranged(url: str, batch: BatchId) -> Mapping[str, Any]:
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        found = await client.get(f"{url}/v1/messages/batches/{batch}")
    return {**found.json(), "processing_status": "hibernating"}

"""Vertex AI, and the Cloud Storage below it."""

from collections.abc import Mapping
from typing import Any, Final

import httpx2

from shared.domain.ids import BatchId, FileId
from shared.ports.providers import ChunkInput
from tests.contract.batching.service import Make, Ways
from tests.contract.batching.simulated import simulated

MODEL: Final = "gemini-3.8-flash"
_SOMEBODY: Final = {"Authorization": "Bearer somebody else"}
_JOBS: Final = "v1/projects/p/locations/us-central1/batchPredictionJobs"


def vertex() -> Make:
    return simulated(
        "vertex",
        "/vertex",
        side_door=_side_door,
        estrange=_estranged,
        # A whole job fails with a number; what it stands for is nobody's word for a model.
        ways=Ways(codes_failures=False),
        model=MODEL,
        deployment=MODEL,
        options=lambda url: {
            "project": "p",
            "location": "us-central1",
            "bucket": "batches",
            "storage_url": f"{url}/gcs",
        },
    )


async def _side_door(url: str, chunk: ChunkInput, file: FileId) -> BatchId:
    wanted = {
        "displayName": "somebody's evaluation",
        "model": f"publishers/google/models/{MODEL}",
        "inputConfig": {"instancesFormat": "jsonl", "gcsSource": {"uris": [file]}},
        "outputConfig": {
            "predictionsFormat": "jsonl",
            "gcsDestination": {"outputUriPrefix": "gs://elsewhere/out"},
        },
    }
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        made = await client.post(f"{url}/{_JOBS}", json=wanted)
    return BatchId(made.json()["name"].rpartition("/")[2])


async def _estranged(url: str, batch: BatchId) -> Mapping[str, Any]:
    async with httpx2.AsyncClient(headers=_SOMEBODY) as client:
        found = await client.get(f"{url}/{_JOBS}/{batch}")
    return {**found.json(), "state": "JOB_STATE_HIBERNATING"}

"""An event in the storage ends a job's wait."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from shared.services.policy import Policy
from tests.support.world import World, a_body

SLOW = Policy(poll=timedelta(hours=5))


def an_event(name: str) -> bytes:
    event: dict[str, Any] = {
        "type": "Microsoft.Storage.BlobCreated",
        "subject": f"/blobServices/default/containers/jobs/blobs/{name}",
        "data": {"api": "PutBlob", "url": f"https://acme.blob.core.windows.net/jobs/{name}"},
    }
    return msgspec.json.encode(event)


@pytest.mark.parametrize("file", ["results.jsonl", "errors.jsonl"])
async def test_a_result_that_arrives_wakes_its_job(file: str) -> None:
    world = World(policy=SLOW)
    world.provider.habits.stuck = True
    job = await world.submit(a_body(["a"]))
    await world.pass_time(minutes=1)
    world.provider.habits.stuck = False
    await world.pass_time(minutes=1)
    assert await world.status(job) == "running"

    key = (await world.chunk(job)).key
    await world.app.take_storage_events(an_event(f"_batches/{key}/1/{file}"), world.engine)
    await world.pass_time(minutes=1)

    assert await world.status(job) == "completed"


@pytest.mark.parametrize("name", ["_batches/job_1-0-1-1/1/results.jsonl", "_batches/x/1/results.jsonl"])
async def test_results_of_jobs_that_are_over_or_unknown_wake_nobody(name: str) -> None:
    world = World()

    await world.app.take_storage_events(an_event(name), world.engine)

    assert world.engine.instances == {}
    assert await world.findings(None) == []


async def test_the_input_of_a_batch_wakes_nobody() -> None:
    world = World(policy=SLOW)
    world.provider.habits.stuck = True
    job = await world.submit(a_body(["a"]))
    await world.pass_time(minutes=1)
    looks = world.provider.calls.count("retrieve")

    key = (await world.chunk(job)).key
    await world.app.take_storage_events(an_event(f"_batches/{key}/input.jsonl"), world.engine)
    await world.pass_time(minutes=1)

    assert world.provider.calls.count("retrieve") == looks

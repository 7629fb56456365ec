"""A job from the door to its end, on in-memory parts."""

from shared.domain.planning import Limits
from tests.support.world import World, a_body


async def test_every_input_gets_its_answer_in_input_order() -> None:
    world = World()
    world.provider.habits.shuffle = True
    job = await world.submit(a_body([f"text {i}" for i in range(50)]))

    await world.run()

    results = await world.results(job)
    assert [r["custom_id"] for r in results] == [f"r-{i}" for i in range(50)]
    assert {r["outcome"] for r in results} == {"succeeded"}
    assert (await world.see(job)).job.status == "completed"


async def test_equal_requests_are_sent_once_and_answered_everywhere() -> None:
    world = World()
    job = await world.submit(a_body(["same", "other", "same", "same"]))

    await world.run()

    results = await world.results(job)
    seen = await world.see(job)
    assert [r["reused"] for r in results] == [False, False, True, True]
    assert len({r["output"] for r in results if r["custom_id"] != "r-1"}) == 1
    assert seen.chunks[0].requests == 2
    assert seen.job.plan is not None
    assert (seen.job.plan.submitted, seen.job.plan.unique) == (4, 2)


async def test_a_batch_asks_for_no_more_vectors_than_the_provider_makes() -> None:
    world = World(limits=Limits(requests=100, bytes=10**6, line_bytes=10**6, vectors=5))
    requests = [{"body": {"input": [f"text {n}.{k}" for k in range(2)]}} for n in range(5)]
    job = await world.submit({"alias": "summarize", "endpoint": "embeddings", "requests": requests})

    await world.run()

    assert [chunk.requests for chunk in (await world.see(job)).chunks] == [2, 2, 1]

"""A job from the door to its end, on in-memory parts."""

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

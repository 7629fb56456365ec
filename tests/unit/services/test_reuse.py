"""A second job of a run takes what the first one got, and buys the rest."""

from tests.support.world import World, a_body

RUN = {"tags": {"run_id": "nightly"}}


async def test_only_what_is_new_is_bought_and_repeats_are_answered_too() -> None:
    world = World()
    first = await world.submit(a_body(["a", "b", "c"], **RUN))
    await world.run()
    second = await world.submit(a_body(["c", "new", "a", "c", "new"], **RUN))
    await world.run()

    results = await world.results(second)
    assert [result["reused"] for result in results] == [True, False, True, True, True]
    earlier = {result["custom_id"]: result["output"] for result in await world.results(first)}
    assert [results[0]["output"], results[2]["output"]] == [earlier["r-2"], earlier["r-0"]]
    seen = await world.see(second)
    assert [chunk.requests for chunk in seen.chunks] == [1]
    assert seen.job.plan is not None
    assert (seen.job.plan.submitted, seen.job.plan.unique, seen.job.plan.reused) == (5, 3, 3)


async def test_a_run_done_before_sends_nothing() -> None:
    world = World()
    await world.submit(a_body(["a", "b", "a"], **RUN))
    await world.run()
    again = await world.submit(a_body(["b", "a", "b"], **RUN))
    await world.run()

    seen = await world.see(again)
    assert seen.chunks == []
    assert seen.job.status == "completed"
    assert [result["custom_id"] for result in await world.results(again)] == ["r-0", "r-1", "r-2"]


async def test_each_answer_is_taken_from_the_job_that_has_it() -> None:
    world = World()
    for texts in (["a", "b"], ["b", "c"], ["d"]):
        await world.submit(a_body(texts, **RUN))
        await world.run()
    last = await world.submit(a_body(["d", "c", "b", "a", "e"], **RUN))
    await world.run()

    results = await world.results(last)
    assert [result["reused"] for result in results] == [True, True, True, True, False]
    assert {result["outcome"] for result in results} == {"succeeded"}


async def test_another_run_reuses_nothing() -> None:
    world = World()
    await world.submit(a_body(["a"], **RUN))
    await world.run()
    other = await world.submit(a_body(["a"], tags={"run_id": "weekly"}))
    await world.run()

    assert [result["reused"] for result in await world.results(other)] == [False]

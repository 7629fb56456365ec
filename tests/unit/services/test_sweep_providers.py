"""The sweep's look at what providers run."""

from shared.domain.catalog import Endpoint
from shared.domain.chunks import read_chunk_key
from shared.domain.findings import FindingKind
from shared.domain.ids import ChunkKey, RequestKey
from tests.support.chunks import chunk_input
from tests.support.world import World, a_body


async def kinds(world: World) -> list[FindingKind]:
    return [finding.kind async for finding in world.app.findings.of(None)]


async def test_a_batch_of_ours_is_no_finding() -> None:
    world = World()
    await world.submit(a_body(["text"]))
    await world.run()

    await world.app.sweep(world.engine)

    assert await kinds(world) == []


async def test_a_batch_of_ours_is_known_by_its_id_where_batches_carry_no_key() -> None:
    world = World()
    world.provider.habits.keyless = True
    await world.submit(a_body(["text"]))
    await world.run()

    await world.app.sweep(world.engine)

    assert await kinds(world) == []


async def test_a_batch_without_a_key_that_nobody_has_is_a_side_door() -> None:
    world = World()
    world.provider.habits.keyless = True
    await world.submit(a_body(["text"]))
    await world.run()
    line = world.provider.write_line(RequestKey("run-1"), Endpoint.CHAT, {"messages": []})
    chunk = chunk_input(ChunkKey("nobody"), line)
    world.provider.open_side_door((await world.provider.stage(chunk)).id)

    await world.app.sweep(world.engine)

    assert await kinds(world) == [FindingKind.SIDE_DOOR]


async def test_a_batch_whose_create_lost_its_answer_is_given_time_to_be_claimed() -> None:
    world = World()
    world.provider.habits.keyless = True
    world.provider.lost_create_answers = 1
    job = await world.planned(a_body(["text"]))
    await world.advance(job)

    await world.app.sweep(world.engine)

    assert await kinds(world) == []


async def test_a_batch_that_carries_our_key_without_a_record_is_found_once() -> None:
    world = World()
    key = ChunkKey("job_0123456789abcdef-0-1-1")
    line = world.provider.write_line(RequestKey("run-1"), Endpoint.CHAT, {"messages": []})
    chunk = chunk_input(key, line)
    await world.provider.create(chunk, (await world.provider.stage(chunk)).id)

    await world.app.sweep(world.engine)
    await world.app.sweep(world.engine)

    assert await kinds(world) == [FindingKind.UNEXPLAINED_BATCH]


def test_only_our_keys_name_a_chunk() -> None:
    named = read_chunk_key("job_01ab-12-1-3")

    assert named is not None
    assert (named.job_id, named.n) == ("job_01ab", 12)
    assert read_chunk_key("nightly-12-1-3") is None

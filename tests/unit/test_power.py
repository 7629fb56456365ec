"""The power cuts of other tests, themselves tested."""

from datetime import UTC, datetime

import pytest

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.clock import FixedClock
from shared.adapters.memory.events import MemoryEvents
from shared.adapters.memory.tables import MemoryTables
from shared.ports.blobs import Blobs
from shared.ports.events import Event, Events
from shared.ports.tables import Tables
from tests.support.power import Mains, PowerCut, PoweredBlobs, PoweredEvents, PoweredTables
from tests.support.streams import stream

NOW = datetime(2026, 3, 1, tzinfo=UTC)
EVENT = Event(id="1", type="t", subject="s", time=NOW, data={})


class World:
    """What survives a cut."""

    def __init__(self) -> None:
        self.tables = MemoryTables()
        self.blobs = MemoryBlobs(FixedClock(NOW))
        self.events = MemoryEvents()

    async def done(self) -> tuple[bool, bool, bool]:
        return (
            await self.tables.get("jobs", "p", "r") is not None,
            await self.blobs.head("jobs/a") is not None,
            bool(self.events.published),
        )


async def work(tables: Tables, blobs: Blobs, events: Events) -> None:
    """Three effects, and looks that are none."""
    await tables.get("jobs", "p", "r")
    await tables.insert("jobs", "p", "r", {})
    await blobs.write("jobs/a", stream(b"x"))
    assert [piece async for piece in blobs.read("jobs/a")] == [b"x"]
    await events.publish(EVENT)


async def run(world: World, mains: Mains) -> None:
    await work(
        PoweredTables(world.tables, mains),
        PoweredBlobs(world.blobs, mains),
        PoweredEvents(world.events, mains),
    )


async def test_without_a_cut_the_effects_are_counted() -> None:
    world, mains = World(), Mains()
    await run(world, mains)
    assert mains.effects == 3
    assert await world.done() == (True, True, True)


@pytest.mark.parametrize("effect", [1, 2, 3])
async def test_a_cut_before_an_effect_prevents_it_and_all_later_ones(effect: int) -> None:
    world = World()
    with pytest.raises(PowerCut):
        await run(world, Mains(cut_before=effect))
    assert sum(await world.done()) == effect - 1


@pytest.mark.parametrize("effect", [1, 2, 3])
async def test_a_cut_after_an_effect_leaves_it_done(effect: int) -> None:
    world = World()
    with pytest.raises(PowerCut):
        await run(world, Mains(cut_after=effect))
    assert sum(await world.done()) == effect


async def test_nothing_works_after_the_cut() -> None:
    world, mains = World(), Mains(cut_after=1)
    with pytest.raises(PowerCut):
        await run(world, mains)
    with pytest.raises(PowerCut):
        await PoweredTables(world.tables, mains).get("jobs", "p", "r")
    with pytest.raises(PowerCut):
        await PoweredEvents(world.events, mains).publish(EVENT)

"""Streams between blobs and us, the spool, and whose turn it is."""

import asyncio
from array import array
from collections.abc import AsyncIterator

import pytest

from shared.services.settling.members import Members
from shared.services.spool import Spool
from shared.services.streams import HANDFUL, Pause, ahead, lines_of
from tests.support.world import World


async def test_pieces_come_as_they_are_and_one_is_fetched_ahead() -> None:
    asked: list[int] = []

    async def pieces() -> AsyncIterator[bytes]:
        for n in range(4):
            asked.append(n)
            yield b"%d" % n

    got = []
    async for piece in ahead(pieces()):
        await asyncio.sleep(0)
        got.append((piece, len(asked)))
    assert got == [(b"0", 2), (b"1", 3), (b"2", 4), (b"3", 4)]


async def test_what_goes_wrong_on_the_way_is_raised_after_the_pieces_before_it() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"good"
        raise ConnectionError("gone")

    stream = ahead(pieces())
    assert await anext(stream) == b"good"
    with pytest.raises(ConnectionError):
        await anext(stream)


async def test_leaving_early_leaves_nothing_running() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await asyncio.sleep(3600)
        yield b"never"

    before = asyncio.all_tasks()
    stream = ahead(pieces())
    assert await anext(stream) == b"first"
    await stream.aclose()
    assert asyncio.all_tasks() == before


async def test_lines_come_in_small_handfuls() -> None:
    world = World()
    await world.blobs.write("jobs/lines", _one(b"".join(b"%d\n" % n for n in range(100))))
    handfuls = [handful async for handful in lines_of(world.blobs, "jobs/lines")]
    assert [int(line or b"") for handful in handfuls for line in handful] == list(range(100))
    assert max(map(len, handfuls)) == HANDFUL


async def test_a_long_loop_lets_others_have_their_turn() -> None:
    had_a_turn = asyncio.Event()
    others = asyncio.create_task(_set(had_a_turn))
    pause = Pause()
    async with asyncio.timeout(30):
        while not had_a_turn.is_set():
            await pause()
    await others


def test_a_spool_gives_back_what_was_put_last_in_any_order() -> None:
    with Spool(3) as spool:
        spool.put(2, b"two")
        spool.put(0, b"old")
        assert spool.get(2) == b"two"
        spool.put(0, b"new")
        assert [spool.get(place) for place in range(3)] == [b"new", b"", b"two"]


def test_members_are_listed_by_position_with_their_repeats_between() -> None:
    members = Members(positions=array("L", [4, 0, 7]), repeats={1: array("L", [2, 9]), 0: array("L", [5, 6])})
    listed = list(members.by_position())
    assert [position for position, _, _ in listed] == [0, 2, 4, 5, 6, 7, 9]
    assert [place for _, place, _ in listed] == [1, 1, 0, 0, 0, 2, 1]
    assert [repeated for _, _, repeated in listed] == [False, True, False, True, True, False, True]


async def _set(event: asyncio.Event) -> None:
    event.set()


async def _one(content: bytes) -> AsyncIterator[bytes]:
    yield content

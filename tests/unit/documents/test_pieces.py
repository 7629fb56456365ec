"""Vectors as lines that a search index loads, beside the result."""

import asyncio
import itertools
import re
from functools import partial
from typing import Any

import msgspec
import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.ids import TenantId
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered
from tests.support.streams import whole

NOTE = "support/knowledge/deep/a b#1.txt"
LINES = f"results/{NOTE}.jsonl"
TEXT = b"The heater on floor three is broken again. " * 20


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


async def lines(world: DocumentWorld) -> list[dict[str, Any]] | None:
    if await world.blobs.head(LINES) is None:
        return None
    content = await whole(world.blobs.read(LINES))
    assert content.endswith(b"\n")
    return [msgspec.json.decode(line) for line in content.split(b"\n")[:-1]]


async def test_every_piece_is_a_line_that_stands_for_itself(world: DocumentWorld) -> None:
    document = await world.process(NOTE, TEXT)

    result, found = await world.result(NOTE), await lines(world)
    assert result is not None
    assert found is not None
    assert result["parts"] == [{"path": LINES, "content_type": "application/jsonl"}]
    assert len(found) == len(result["output"]) > 1
    for n, (line, piece) in enumerate(zip(found, result["output"], strict=True)):
        assert line == {
            "id": f"{document.id}-{n}",
            "document_id": document.id,
            "tenant": "support",
            "pipeline": "knowledge",
            "path": NOTE,
            "etag": document.etag,
            **piece,
        }
        assert re.fullmatch(r"[A-Za-z0-9_\-=]+", line["id"])
    info = await world.blobs.head(LINES)
    assert info is not None
    assert info.content_type == "application/jsonl"


async def test_other_tasks_leave_no_lines(world: DocumentWorld) -> None:
    await world.process("support/notes/a.txt")

    places = [info.path async for info in world.blobs.list("results/")]
    assert places == ["results/support/notes/a.txt.json"]


async def test_lines_go_with_the_document(world: DocumentWorld) -> None:
    document = await world.process(NOTE, TEXT)
    owner = TenantId("support")

    await world.app.erase_document(await world.documents.load(owner, document.id))

    assert [info.path async for info in world.blobs.list("results/")] == []


async def test_a_newer_version_without_an_answer_leaves_no_lines_of_the_older_one(
    world: DocumentWorld,
) -> None:
    await world.process(NOTE, TEXT)
    world.model.manners.fates["forbidden"] = Fate.CONTENT_FILTER
    await world.claim(NOTE, b"A forbidden text.")
    await world.deliver()

    result = await world.result(NOTE)
    assert result is not None
    assert (result["outcome"], result["parts"]) == ("refused", None)
    assert await lines(world) is None


async def test_versions_that_end_together_leave_lines_and_result_of_the_newer_one() -> None:
    for turns in range(14):
        world = DocumentWorld()
        gates = [asyncio.Event(), asyncio.Event()]
        asked = [asyncio.Event(), asyncio.Event()]
        await world.claim(NOTE, TEXT)

        async def wait(
            _: float, world: DocumentWorld = world, gates: Any = gates, asked: Any = asked
        ) -> None:
            number = len(world.model.asked) - 1
            asked[number].set()
            await gates[number].wait()

        world.model.manners.sleep = wait
        older = asyncio.create_task(world.app.process_document(world.queue.sent[0].body))
        await asked[0].wait()
        await world.claim(NOTE, b"The newer version is short.")
        newer = asyncio.create_task(world.app.process_document(world.queue.sent[1].body))
        await asked[1].wait()
        gates[0].set()
        for _ in range(turns):
            await asyncio.sleep(0)
        gates[1].set()
        await asyncio.gather(older, newer)

        found, result = await lines(world), await world.result(NOTE)
        assert found is not None
        assert result is not None
        assert "newer" in found[0]["text"], f"after {turns} turns"
        assert {line["document_id"] for line in found} == {result["document"]["id"]}


async def test_power_may_fail_between_lines_and_result() -> None:
    for number in itertools.count(1):
        world = DocumentWorld()
        await world.claim(NOTE, TEXT)
        delivery = world.queue.receive()
        assert delivery is not None
        app = world.power_up(partial(powered, mains=Mains(cut_after=number)))
        try:
            await app.process_document(delivery.message.body)
        except PowerCut:
            await world.deliver()
            found, result = await lines(world), await world.result(NOTE)
            assert found is not None
            assert result is not None
            assert len(found) == len(result["output"]), f"cut after {number}"
        else:
            assert number > 8
            return

"""What is acknowledged survives the death of the process."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import AsyncOpenAI

from tests.local.simulator import batching
from tests.local.simulator.batching import counts, some_lines
from tests.local.simulator.conftest import azure_client
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Simulator]:
    simulator = Simulator(data=tmp_path)
    simulator.start()
    yield simulator
    simulator.stop()


async def wait_for_rows(client: AsyncOpenAI, batch_id: str, number: int) -> None:
    await batching.until(client, batch_id, lambda seen: counts(seen)[1] >= number)


async def test_a_batch_goes_on_where_it_was_and_writes_no_row_twice(mortal: Simulator) -> None:
    lines = some_lines(3000)
    mortal.rule(match={}, then={"batch": "completed", "after_seconds": 2})
    mortal.rule(match={"contains": "Ticket 17."}, then={"outcome": "duplicate"})
    async with azure_client(mortal) as client:
        batch = await batching.create(client, lines)
        for share in (300, 900, 1500):
            await wait_for_rows(client, batch.id, share)
            mortal.kill()
            mortal.start()
        assert (await client.batches.retrieve(batch.id)).status == "in_progress"
        batch = await batching.ended(client, batch.id)

        found = [row["custom_id"] for row in await batching.output(client, batch)]

    assert (batch.status, counts(batch)) == ("completed", (3000, 3000, 0))
    assert sorted(found) == sorted([line["custom_id"] for line in lines] + ["r-17"])


async def test_everything_acknowledged_is_there_after_a_kill(mortal: Simulator) -> None:
    mortal.rule(match={"operation": "list"}, then={"status": 503}, times=2)
    mortal.rule(match={}, then={"batch": "stuck", "completed": 1})
    mortal.send("POST", "quota", {"enqueued_tokens": 10_000})
    mortal.advance(hours=30)
    async with azure_client(mortal) as client:
        with pytest.raises(Exception, match="503"):
            await client.batches.list()
        batch = await batching.create(client, some_lines(2), key="chunk")
        await wait_for_rows(client, batch.id, 1)
        before = {name: mortal.get(name) for name in ("rules", "journal", "quota")}
        offset = mortal.get("clock")["offset_seconds"]

        mortal.kill()
        mortal.start()

        assert {name: mortal.get(name) for name in before} == before
        assert mortal.get("clock")["offset_seconds"] == offset == 108_000
        assert counts(await client.batches.retrieve(batch.id)) == (2, 1, 0)
        assert len(await batching.content(client, batch.input_file_id)) > 0


async def test_a_cancel_that_was_answered_is_carried_out_after_a_kill(mortal: Simulator) -> None:
    mortal.rule(match={}, then={"batch": "stuck", "completed": 2})
    async with azure_client(mortal) as client:
        batch = await batching.create(client, some_lines(4))
        await wait_for_rows(client, batch.id, 2)
        await client.batches.cancel(batch.id)
        mortal.kill()
        mortal.start()
        batch = await batching.ended(client, batch.id)

        assert (batch.status, len(await batching.output(client, batch))) == ("cancelled", 2)


async def test_sigterm_stops_at_once_even_in_the_middle_of_work(mortal: Simulator) -> None:
    async with azure_client(mortal) as client:
        batch = await batching.create(client, some_lines(6000))
        await wait_for_rows(client, batch.id, 100)

    code, out = mortal.stop()

    assert (code, out) == (0, b"")
    assert code != -signal.SIGTERM

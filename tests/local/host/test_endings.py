"""Blob and Service Bus functions when their host ends, hard or gently."""

import asyncio
import signal

import pytest

from tests.local.host.trigger_stage import TriggerStage

pytestmark = [pytest.mark.stack, pytest.mark.azurite]


async def test_a_kill_of_the_host_loses_neither_events_nor_messages(stage: TriggerStage) -> None:
    names = [f"survivor {number}.txt" for number in range(20)]
    for name in ("hangs.txt", *names):
        stage.drop("documents", name)
    await stage.send({"id": "half-done", "sleep_first": 6})
    await stage.seen.after(1, "process", id="half-done")
    stage.tell("claim_document", "documents", "hangs.txt")
    await stage.seen.after(1, "claim_document", name="hangs.txt")

    assert stage.tell("claim_document", "documents", *names) == 202
    stage.host.end(signal.SIGKILL)
    await asyncio.to_thread(stage.host.start_again)

    for name in names:
        await stage.seen.after(1, "claim_document", name=name)
    assert len(await stage.seen.after(2, "claim_document", name="hangs.txt")) == 2
    await stage.seen.after(1, "processed", id="half-done")
    assert [entry["delivery_count"] for entry in stage.seen.of("process", id="half-done")] == [1, 2]


async def test_a_gentle_stop_lets_calls_end_and_gives_back_what_takes_longer(stage: TriggerStage) -> None:
    await stage.send({"id": "nearly-done", "sleep": 1, "leave_open": True}, {"id": "cut", "sleep_first": 6.5})
    await stage.seen.after(1, "process", id="nearly-done")
    await stage.seen.after(1, "process", id="cut")

    code = await asyncio.to_thread(stage.host.end)

    assert code == 0
    assert stage.seen.of("processed", id="nearly-done")
    assert not stage.seen.of("processed", id="cut")
    assert "Unclosed" not in stage.host.errors
    await asyncio.to_thread(stage.host.start_again)
    await stage.seen.after(1, "processed", id="cut", seconds=4)
    assert len(stage.seen.of("process", id="nearly-done")) == 1

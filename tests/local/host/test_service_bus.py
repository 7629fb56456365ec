"""Service Bus functions on the local host, through the real SDK against the local broker."""

import asyncio
from typing import Any

import pytest
from azure.servicebus.aio import ServiceBusClient
from azure.servicebus.amqp import AmqpAnnotatedMessage

from tests.local.host.observations import until
from tests.local.host.trigger_stage import QUEUE, TriggerStage

pytestmark = [pytest.mark.stack, pytest.mark.azurite]


async def the_queue_is_empty(stage: TriggerStage) -> None:
    await until(lambda: counts(stage)["active"] == 0, "the queue is empty")


def counts(stage: TriggerStage) -> dict[str, Any]:
    return stage.broker.counts(QUEUE)


async def test_a_message_arrives_with_its_properties_and_is_completed(stage: TriggerStage) -> None:
    await stage.send(
        {"id": "described"},
        correlation_id="c-1",
        content_type="application/json",
        subject="claim",
        application_properties={"tenant": "support", b"attempt": 2},
    )

    (entry,) = await stage.seen.after(1, "process", id="described")
    assert (entry["message_id"], entry["correlation_id"]) == ("described", "c-1")
    assert (entry["content_type"], entry["subject"]) == ("application/json", "claim")
    assert entry["properties"] == entry["user_properties"] == {"tenant": "support", "attempt": 2}
    assert entry["delivery_count"] == 1
    assert abs(entry["at"] - entry["enqueued"]) < 30
    assert entry["locked_until"] > entry["enqueued"]
    assert entry["sequence_number"] > 0
    assert len(entry["lock_token"]) == 36
    await the_queue_is_empty(stage)


async def test_a_body_that_is_a_value_arrives_as_bytes(stage: TriggerStage) -> None:
    async with (
        ServiceBusClient.from_connection_string(stage.broker.connection_string()) as client,
        client.get_queue_sender(QUEUE) as sender,
    ):
        await sender.send_messages(AmqpAnnotatedMessage(value_body='{"id": "a value"}'))

    await stage.seen.after(1, "processed", id="a value")


async def test_a_function_that_raises_gets_the_message_again_until_it_is_dead(stage: TriggerStage) -> None:
    await stage.send({"id": "unwanted", "fail": True})

    entries = await stage.seen.after(3, "process", id="unwanted")
    await until(lambda: counts(stage)["dead_letter"] >= 1, "the message is dead")

    assert [entry["delivery_count"] for entry in entries] == [1, 2, 3]
    assert len(stage.seen.of("process", id="unwanted")) == 3
    assert "function.failed process: RuntimeError: this message is not wanted" in stage.host.errors


async def test_no_more_calls_run_at_once_than_allowed(stage: TriggerStage) -> None:
    names = [f"busy-{number}" for number in range(8)]

    await stage.send(*({"id": name, "sleep": 0.2} for name in names))

    for name in names:
        await stage.seen.after(1, "processed", id=name)
    busy = [stage.seen.of("process", id=name)[0]["running"] for name in names]
    assert max(busy) == 2


async def test_a_lock_is_renewed_and_a_call_beyond_the_time_limit_is_cut(stage: TriggerStage) -> None:
    """The lock lasts 5 s, the limit is 7 s."""
    await stage.send({"id": "long", "sleep": 5.5}, {"id": "too-long", "sleep_first": 30})

    await stage.seen.after(1, "processed", id="long")
    await stage.seen.after(1, "processed", id="too-long")
    await the_queue_is_empty(stage)

    assert [entry["delivery_count"] for entry in stage.seen.of("process", id="long")] == [1]
    assert [entry["delivery_count"] for entry in stage.seen.of("process", id="too-long")] == [1, 2]
    assert "FunctionTimeoutException" in stage.host.errors


async def test_a_kill_of_the_broker_in_the_middle_of_a_call_costs_nothing(stage: TriggerStage) -> None:
    await stage.send({"id": "through-the-kill", "sleep": 1.5})
    await stage.seen.after(1, "process", id="through-the-kill")

    await asyncio.to_thread(stage.broker.kill)
    await asyncio.to_thread(stage.broker.start)
    await stage.send({"id": "after-the-kill"})

    await stage.seen.after(1, "processed", id="after-the-kill")
    await stage.seen.after(1, "processed", id="through-the-kill")
    await the_queue_is_empty(stage)
    assert len(stage.seen.of("process", id="through-the-kill")) == 1


async def test_a_disabled_function_receives_nothing(stage: TriggerStage) -> None:
    assert stage.host.wait_until_ready()["disabled"] == ["switched_off"]
    assert not stage.seen.of("switched_off")

"""From a dropped blob or a sent message to a function, through a stack whose processes get killed."""

import sys
from collections.abc import Iterator

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage

from local.stack import Stack, start_stack
from tests.local.host.observations import Observations, until

pytestmark = [pytest.mark.stack, pytest.mark.azurite]

TRIGGER_STACK = (sys.executable, "-m", "tests.local.launcher.trigger_stack")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    data = tmp_path_factory.mktemp("stack")
    settings = {
        "SAMPLE_LOG": str(data / "log.jsonl"),
        "SAMPLE_CONTAINER": "texts",
        "SAMPLE_QUEUE": "documents",
        "AzureWebJobs.switched_off.Disabled": "true",
    }
    with start_stack(data, settings, command=TRIGGER_STACK) as started:
        yield started


@pytest.fixture
def seen(stack: Stack) -> Observations:
    return Observations(stack.data / "log.jsonl")


async def test_a_dropped_document_reaches_the_function(stack: Stack, seen: Observations) -> None:
    etag = stack.drop("support/notes/a b+ü#[1].txt", b"content", project="tickets")

    await seen.after(1, "claim_document", name="support/notes/a b+ü#[1].txt")
    assert etag.startswith('"0x')


async def test_a_sent_message_reaches_the_function(stack: Stack, seen: Observations) -> None:
    with (
        ServiceBusClient.from_connection_string(stack.servicebus) as client,
        client.get_queue_sender("documents") as sender,
    ):
        sender.send_messages(ServiceBusMessage('{"id": "claim-check"}', message_id="claim-check"))

    (entry,) = await seen.after(1, "process", id="claim-check")
    assert 10 < entry["locked_until"] - entry["at"] <= 15


async def test_what_is_dropped_while_host_and_feed_are_dead_is_not_forgotten(
    stack: Stack, seen: Observations
) -> None:
    killed = {name: stack.kill(name) for name in ("host", "feed", "servicebus")}
    names = [f"support/notes/{number}.txt" for number in range(10)]
    for name in names:
        stack.drop(name, b"content")

    for name, pid in killed.items():
        stack.wait_for_restart(name, pid)

    for name in names:
        await seen.after(1, "claim_document", name=name)


async def test_the_mishaps_of_the_feed_can_be_asked_for(stack: Stack, seen: Observations) -> None:
    stack.turn_knobs(loss=1)
    stack.drop("support/notes/lost.txt", b"content")
    await until(lambda: stack.feed_counts()["lost"] == 1, "the event is lost")

    stack.turn_knobs(duplicates=1)
    stack.drop("support/notes/found.txt", b"content")

    await seen.after(2, "claim_document", name="support/notes/found.txt")
    assert not seen.of("claim_document", name="support/notes/lost.txt")


def test_a_result_is_read_from_where_the_app_puts_it(stack: Stack) -> None:
    with stack.container("results") as results:
        results.upload_blob("support/notes/a.txt.json", b'{"outcome": "succeeded"}')

    assert stack.wait_for_result("support/notes/a.txt") == {"outcome": "succeeded"}

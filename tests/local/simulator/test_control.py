"""The control calls: rules are checked, the journal and the events are kept."""

import json

import pytest
from azure.core.credentials import AzureKeyCredential
from azure.core.messaging import CloudEvent
from azure.eventgrid.aio import EventGridPublisherClient
from openai import AsyncAzureOpenAI

from tests.local.simulator import batching
from tests.local.simulator.batching import some_lines
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

NONSENSE = {
    "an unknown field": ({"match": {"operatoin": "create"}, "then": {"status": 500}}, "operatoin"),
    "an unknown operation": ({"match": {"operation": "fly"}, "then": {"status": 500}}, "fly"),
    "an unknown outcome": ({"then": {"outcome": "happy"}}, "happy"),
    "nothing to do": ({"then": {}}, "`then` is empty"),
    "no then": ({"match": {}}, "then"),
    "two kinds": ({"then": {"batch": "failed", "outcome": "error"}}, "`outcome` has no meaning"),
    "a field of another kind": ({"then": {"status": 500, "after_seconds": 3}}, "`after_seconds`"),
    "a field of another outcome": ({"then": {"outcome": "refusal", "shape": "cut"}}, "`shape` needs"),
    "a field of another ending": ({"then": {"batch": "completed", "error_code": "x"}}, "`error_code` needs"),
    "never": ({"then": {"status": 500}, "times": 0}, "`times`"),
    "no HTTP status": ({"then": {"status": 42}}, "HTTP status"),
    "a time before now": ({"then": {"delay_ms": -1}}, "`delay_ms`"),
    "more than all": ({"then": {"batch": "expired", "completed": 1.5}}, "`completed`"),
    "a knob of another operation": (
        {"match": {"operation": "list"}, "then": {"pending_reads": 1}},
        "match.operation 'upload'",
    ),
    "a batch that is matched by a poll": (
        {"match": {"operation": "retrieve"}, "then": {"batch": "failed"}},
        "operation 'retrieve'",
    ),
}


@pytest.mark.parametrize(("rule", "reason"), NONSENSE.values(), ids=NONSENSE)
def test_a_rule_without_sense_is_refused_with_the_reason(
    simulator: Simulator, rule: dict[str, object], reason: str
) -> None:
    assert reason in simulator.refuses("rules", [{"then": {"status": 500}}, rule])
    assert simulator.get("rules") == []


def test_rules_are_listed_with_their_uses_and_removed(simulator: Simulator) -> None:
    simulator.send("POST", "rules", {"match": {"operation": "list"}, "then": {"status": 500}, "times": 3})

    [rule] = simulator.get("rules")
    removed = simulator.send("DELETE", "rules")

    assert (rule["times"], rule["used"], rule["kind"]) == (3, 0, "operation")
    assert (removed, simulator.get("rules")) == ({"removed": 1}, [])


async def test_the_journal_tells_every_call_in_order(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    batch = await batching.create(azure, some_lines(3), postern_chunk_key="job-1.0.1")
    await batching.ended(azure, batch.id)

    calls = simulator.get(f"journal?batch_id={batch.id}")
    [created] = simulator.journal("create")
    [uploaded] = simulator.journal("upload")

    assert {call["operation"] for call in calls} == {"create", "retrieve"}
    assert (created["provider"], created["key"], created["requests"]) == ("azure_openai", "job-1.0.1", 3)
    assert uploaded["requests"] == 3
    assert uploaded["at"] < created["at"]
    assert simulator.get("journal?provider=openai") == []
    assert simulator.get(f"journal?after={created['seq']}&limit=1") == calls[1:2]


def test_the_clock_moves_forward_only(simulator: Simulator) -> None:
    before = simulator.get("clock")
    simulator.advance(hours=1)

    assert simulator.get("clock")["offset_seconds"] == before["offset_seconds"] + 3600
    assert "forward" in simulator.refuses("clock", {"advance_seconds": -1})


def an_event(number: int, kind: str = "postern.job.completed") -> CloudEvent:
    return CloudEvent(
        id=f"e-{number}", source="/postern", type=kind, subject=f"tenants/t/jobs/{number}", data={"n": number}
    )


@pytest.mark.parametrize("path", ["/_sim/events", "/_sim/events/publish"])
async def test_the_event_grid_sdk_publishes_here(simulator: Simulator, path: str) -> None:
    async with EventGridPublisherClient(simulator.url + path, AzureKeyCredential("key")) as topic:
        await topic.send(an_event(1))
        await topic.send([an_event(2), an_event(3, "postern.job.failed")])

    events = simulator.get("events")
    [failed] = simulator.get("events?type=postern.job.failed")
    assert [event["id"] for event in events] == ["e-1", "e-2", "e-3"]
    assert (failed["subject"], failed["data"]) == ("tenants/t/jobs/3", {"n": 3})


async def test_publishing_can_be_made_to_fail(simulator: Simulator) -> None:
    simulator.rule(match={"operation": "publish"}, then={"status": 503})
    client = EventGridPublisherClient(
        f"{simulator.url}/_sim/events", AzureKeyCredential("key"), retry_total=0
    )

    async with client as topic:
        with pytest.raises(Exception, match="Simulated error 503"):
            await topic.send(an_event(1))

    assert simulator.get("events") == []


def test_nothing_but_cloud_events_is_taken(simulator: Simulator) -> None:
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        f"{simulator.url}/_sim/events/publish",
        data=json.dumps([{"id": "1"}]).encode(),
        headers={"aeg-sas-key": "k", "Content-Type": "application/cloudevents-batch+json"},
    )

    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(request, timeout=10).close()

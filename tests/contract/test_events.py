"""What every way to announce promises: in memory, and to a topic over HTTP."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest

from shared.adapters.azure.connections import EventTopic, TopicConnection
from shared.adapters.azure.events import EventGridEvents
from shared.adapters.memory.events import MemoryEvents
from shared.domain.errors import NotAdmitted, TryAgainLater
from shared.ports.events import Event, Events
from tests.support.topic import Topic, topic_on_loopback

EVENT = Event(
    id="job-1:7",
    type="postern.job.completed",
    subject="tenants/support/jobs/job-1",
    time=datetime(2026, 3, 1, 12, 30, 15, 678901, tzinfo=UTC),
    data={"status": "completed", "requests": 98, "cost": {"amount": "0.01"}, "note": "é"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """A way to announce, the ids it has delivered, and a way to break it."""

    events: Events
    ids: Callable[[], list[str]]
    refuse: Callable[[], None]


@pytest.fixture
async def topic() -> AsyncIterator[Topic]:
    async with topic_on_loopback() as topic:
        yield topic


@pytest.fixture
async def grid(topic: Topic) -> AsyncIterator[EventGridEvents]:
    connection = TopicConnection(EventTopic(endpoint=topic.endpoint, key="topic-key"))
    yield EventGridEvents(connection, source="/postern/test")
    await connection.close()


@pytest.fixture(params=["memory", "grid"])
def announced(request: pytest.FixtureRequest) -> Announced:
    if request.param == "memory":
        memory = MemoryEvents()
        return Announced(
            events=memory,
            ids=lambda: [event.id for event in memory.published],
            refuse=lambda: memory.refuse(1),
        )
    topic: Topic = request.getfixturevalue("topic")
    return Announced(
        events=request.getfixturevalue("grid"),
        ids=lambda: [event["id"] for event in topic.events],
        refuse=lambda: topic.answer(429),
    )


async def test_events_are_delivered_in_turn(announced: Announced) -> None:
    await announced.events.publish(EVENT)
    await announced.events.publish(replace(EVENT, id="job-1:8"))
    assert announced.ids() == ["job-1:7", "job-1:8"]


async def test_data_may_be_any_mapping(announced: Announced) -> None:
    """What comes back from the outbox is read-only."""
    await announced.events.publish(replace(EVENT, data=MappingProxyType(dict(EVENT.data))))
    assert announced.ids() == ["job-1:7"]


async def test_a_repeat_is_delivered_under_the_same_id(announced: Announced) -> None:
    await announced.events.publish(EVENT)
    await announced.events.publish(EVENT)
    assert announced.ids() == ["job-1:7", "job-1:7"]


async def test_an_event_that_cannot_be_sent_is_refused(announced: Announced) -> None:
    for wrong, message in (
        (replace(EVENT, id=""), "needs an id"),
        (replace(EVENT, time=datetime(2026, 3, 1)), "without a zone"),  # noqa: DTZ001 - the misuse itself
        (replace(EVENT, data={"text": "x" * 1_000_000}), "bytes of data"),
    ):
        with pytest.raises(ValueError, match=message):
            await announced.events.publish(wrong)
    assert announced.ids() == []


async def test_an_event_that_is_not_taken_can_be_sent_again(announced: Announced) -> None:
    announced.refuse()
    with pytest.raises(TryAgainLater):
        await announced.events.publish(EVENT)
    assert announced.ids() == []
    await announced.events.publish(EVENT)
    assert announced.ids() == [EVENT.id]


async def test_a_topic_gets_a_cloud_event_and_the_key(grid: EventGridEvents, topic: Topic) -> None:
    elsewhere = EVENT.time.astimezone(timezone(timedelta(hours=2)))
    await grid.publish(replace(EVENT, time=elsewhere))
    (event,) = topic.events
    assert datetime.fromisoformat(event.pop("time")) == EVENT.time
    assert event == {
        "specversion": "1.0",
        "id": EVENT.id,
        "source": "/postern/test",
        "type": EVENT.type,
        "subject": EVENT.subject,
        "data": EVENT.data,
        "datacontenttype": "application/json",
    }
    assert topic.keys == ["topic-key"]


async def test_a_topic_that_recovers_gets_the_event(grid: EventGridEvents, topic: Topic) -> None:
    topic.answer(503)
    await grid.publish(EVENT)
    assert [event["id"] for event in topic.events] == [EVENT.id]


@pytest.mark.parametrize("status", [404, 429, 500, 503])
async def test_a_topic_that_does_not_take_it_means_again_later(
    grid: EventGridEvents, topic: Topic, status: int
) -> None:
    topic.answer(*[status] * 3)
    with pytest.raises(TryAgainLater, match="event 'job-1:7'"):
        await grid.publish(EVENT)
    assert topic.events == []


@pytest.mark.parametrize("status", [401, 403])
async def test_a_topic_that_does_not_know_us_is_for_the_operator(
    grid: EventGridEvents, topic: Topic, status: int
) -> None:
    topic.answer(status)
    with pytest.raises(NotAdmitted) as caught:
        await grid.publish(EVENT)
    assert "topic-key" not in str(caught.value)
    assert topic.attempts == 1


async def test_nobody_listening_means_again_later() -> None:
    async with topic_on_loopback() as topic:
        gone = topic.endpoint
    connection = TopicConnection(EventTopic(endpoint=gone, key="topic-key"))
    with pytest.raises(TryAgainLater):
        await EventGridEvents(connection).publish(EVENT)
    await connection.close()

"""The `$management` node by itself: rights, arguments, and what it must not give away."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from local.servicebus.amqp.constructors import LONG, UUID_16
from local.servicebus.amqp.values import Array
from local.servicebus.definitions import Queue, Right
from local.servicebus.errors import unauthorized
from local.servicebus.management import MAX_PEEK_BYTES, Management
from local.servicebus.messages import read_message
from local.servicebus.requests import Reply, Request
from tests.local.servicebus.builders import START, Bench, a_message, encoded


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    queues = {"documents": Queue(), "large": Queue(max_message_size_in_kilobytes=2048)}
    bench = Bench(tmp_path / "servicebus.db", queues)
    yield bench
    bench.lose_power()


def ask(
    bench: Bench,
    operation: str,
    body: Any,
    *,
    rights: frozenset[Right] = frozenset(Right),
    queue: str = "documents",
) -> Reply:
    def require(right: Right) -> None:
        if right not in rights:
            raise unauthorized(f"no {right}")

    node = Management(broker=bench.broker, entity=bench.queue(queue), require=require)
    return node(
        Request(
            message_id=1, reply_to=None, parameters={"operation": f"com.microsoft:{operation}"}, body=body
        )
    )


def status_of(reply: Reply) -> tuple[int, Any]:
    return reply.parameters["statusCode"], reply.parameters.get("errorCondition")


def schedule(*messages: bytes) -> dict[str, Any]:
    return {"messages": [{"message": message, "message-id": "m"} for message in messages]}


@pytest.mark.parametrize(
    ("operation", "needed"),
    [
        ("renew-lock", Right.LISTEN),
        ("peek-message", Right.LISTEN),
        ("receive-by-sequence-number", Right.LISTEN),
        ("update-disposition", Right.LISTEN),
        ("schedule-message", Right.SEND),
        ("cancel-scheduled-message", Right.SEND),
    ],
)
def test_each_operation_needs_its_right(bench: Bench, operation: str, needed: Right) -> None:
    without = ask(bench, operation, {}, rights=frozenset(Right) - {needed})
    with_it = ask(bench, operation, {}, rights=frozenset({needed}))

    assert status_of(without) == (401, "amqp:unauthorized-access")
    assert status_of(with_it) == (400, "com.microsoft:argument-error")


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        pytest.param("renew-lock", {"lock-tokens": ["not-a-uuid"]}, id="token"),
        pytest.param("peek-message", {"from-sequence-number": "1", "message-count": 1}, id="number"),
        pytest.param("cancel-scheduled-message", {"sequence-numbers": 7}, id="not-a-list"),
        pytest.param("schedule-message", {"messages": [{"message": "text"}]}, id="not-bytes"),
        pytest.param("update-disposition", None, id="no-body"),
    ],
)
def test_bad_arguments_are_named_and_change_nothing(bench: Bench, operation: str, body: Any) -> None:
    assert status_of(ask(bench, operation, body)) == (400, "com.microsoft:argument-error")


def test_what_is_not_offered_is_said_so(bench: Bench) -> None:
    for operation in ("get-session-state", "add-rule"):
        assert status_of(ask(bench, operation, {})) == (501, "amqp:not-implemented")


def test_scheduling_several_is_all_or_nothing(bench: Bench) -> None:
    good = encoded(b"good", at=START + 60_000)

    unreadable = ask(bench, "schedule-message", schedule(good, b"\x01nonsense"))
    oversize = ask(bench, "schedule-message", schedule(good, encoded(bytes(300_000))))

    assert status_of(unreadable) == (400, "amqp:decode-error")
    assert status_of(oversize) == (400, "amqp:link:message-size-exceeded")
    assert list(bench.broker.peek(bench.queue(), 1, 10)) == []
    assert ask(bench, "schedule-message", schedule(good)).body == {"sequence-numbers": Array(LONG, (1,))}


def test_settling_several_with_one_lost_lock_settles_none(bench: Bench) -> None:
    bench.broker.send(bench.queue(), [a_message()])
    stored = bench.broker.lock(bench.queue())
    assert stored is not None
    tokens = Array(UUID_16, (stored.lock_token, uuid4()))

    reply = ask(bench, "update-disposition", {"disposition-status": "completed", "lock-tokens": tokens})

    assert status_of(reply) == (410, "com.microsoft:message-lock-lost")
    assert bench.broker.counts(bench.queue()).locked == 1


def test_peeking_does_not_give_away_the_lock_token(bench: Bench) -> None:
    bench.broker.send(bench.queue(), [a_message()])
    stored = bench.broker.lock(bench.queue())
    assert stored is not None
    assert stored.lock_token is not None

    reply = ask(bench, "peek-message", {"from-sequence-number": 1, "message-count": 5})

    assert status_of(reply) == (200, None)
    assert stored.lock_token.bytes not in reply.body["messages"][0]["message"]


def test_a_peek_is_bounded_in_bytes_and_always_moves_on(bench: Bench) -> None:
    bench.broker.send(bench.queue("large"), [a_message(bytes(MAX_PEEK_BYTES - 1000)) for _ in range(3)])

    reply = ask(bench, "peek-message", {"from-sequence-number": 1, "message-count": 3}, queue="large")

    assert len(reply.body["messages"]) == 1
    assert read_message(reply.body["messages"][0]["message"]).bare
    empty = ask(bench, "peek-message", {"from-sequence-number": 9, "message-count": 3}, queue="large")
    assert status_of(empty) == (204, None)

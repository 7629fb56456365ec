"""A broker with a clock that stands still until it is told to move on."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from azure.servicebus._pyamqp._encode import encode_payload
from azure.servicebus._pyamqp.message import Header as SdkHeader
from azure.servicebus._pyamqp.message import Message as SdkMessage
from azure.servicebus._pyamqp.message import Properties as SdkProperties

from local.servicebus.amqp import sections
from local.servicebus.broker import Broker, Entity
from local.servicebus.definitions import Queue
from local.servicebus.dispatch import Dispatch
from local.servicebus.messages import Message, Stored, read_message
from local.servicebus.store import Store, open_database
from local.servicebus.turn import Turn

START = 1_800_000_000_000


class Bench:
    """One emulator without sockets. `path` keeps its file, so that `Bench(path)` again is a restart."""

    def __init__(self, path: Path, queues: Mapping[str, Queue], *, now: int = START) -> None:
        self.now = now
        self.ready: list[str] = []
        self.database = open_database(path)
        self.turn = Turn(self.database, lambda action: None)
        self.dispatch = Dispatch(self.turn)
        self.broker = Broker(
            store=Store(self.database),
            turn=self.turn,
            queues=queues,
            clock=lambda: self.now,
            on_ready=self._on_ready,
        )
        self.dispatch.serve(self.broker)

    def queue(self, path: str = "documents") -> Entity:
        return self.broker.entity(path)

    def dead_letters(self, path: str = "documents") -> Entity:
        return self.broker.entity(f"{path}/$DeadLetterQueue")

    def pass_time(self, **duration: float) -> None:
        """Let time go by and do what fell due."""
        self.now += int(timedelta(**duration).total_seconds() * 1000)
        self.broker.run_due()

    def lose_power(self) -> None:
        """What was not committed is gone."""
        self.database.close()

    def _on_ready(self, key: str) -> None:
        self.ready.append(key)
        self.dispatch.wake(key)


def encoded(
    body: bytes = b"body", *, message_id: str | None = None, ttl: int | None = None, at: int | None = None
) -> bytes:
    """What the SDK would send; `ttl` in milliseconds, `at` the moment it is scheduled for."""
    annotations: dict[str | bytes, Any] = {}
    if at is not None:
        annotations[b"x-opt-scheduled-enqueue-time"] = datetime.fromtimestamp(at / 1000, UTC)
    message = SdkMessage(
        header=None if ttl is None else SdkHeader(ttl=ttl),
        message_annotations=annotations or None,
        properties=SdkProperties(message_id=message_id),
        data=[body],
    )
    out = bytearray()
    encode_payload(out, message)
    return bytes(out)


def a_message(body: bytes = b"body", **given: Any) -> Message:
    return read_message(encoded(body, **given))


def body_of(stored: Stored) -> bytes:
    return b"".join(
        part.value() for part in sections.sections(stored.message.bare) if part.code == sections.DATA
    )


def application_properties_of(stored: Stored) -> dict[str, Any]:
    for part in sections.sections(stored.message.bare):
        if part.code == sections.APPLICATION_PROPERTIES:
            found: dict[str, Any] = part.value()
            return found
    return {}


def lock(bench: Bench, path: str = "documents") -> Stored:
    stored = bench.broker.lock(bench.queue(path))
    assert stored is not None
    return stored


def token_of(stored: Stored) -> UUID:
    assert stored.lock_token is not None
    return stored.lock_token


def send(bench: Bench, *bodies: bytes, path: str = "documents") -> list[int]:
    return bench.broker.send(bench.queue(path), [a_message(body) for body in bodies])

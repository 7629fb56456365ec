"""What a client sends and what the queue keeps of it. All times are milliseconds since 1970-01-01 UTC."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from uuid import UUID

from local.servicebus.amqp import sections as amqp
from local.servicebus.amqp.decode import decode
from local.servicebus.amqp.encode import encode
from local.servicebus.amqp.values import Int, Malformed, Symbol, Timestamp, UByte, UInt

SEQUENCE_NUMBER = Symbol("x-opt-sequence-number")
ENQUEUED_TIME = Symbol("x-opt-enqueued-time")
LOCKED_UNTIL = Symbol("x-opt-locked-until")
LOCK_TOKEN = Symbol("x-opt-lock-token")
MESSAGE_STATE = Symbol("x-opt-message-state")
SCHEDULED_ENQUEUE_TIME = Symbol("x-opt-scheduled-enqueue-time")
WRITTEN_BY_THE_BROKER = frozenset({SEQUENCE_NUMBER, ENQUEUED_TIME, LOCKED_UNTIL, LOCK_TOKEN, MESSAGE_STATE})


class State(IntEnum):
    """The numbers are on the wire and on disk."""

    ACTIVE = 0
    DEFERRED = 1
    SCHEDULED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`annotations` is an encoded map; `bare` is everything from properties to footer, byte for byte."""

    message_id: str | None
    durable: bool
    priority: int | None
    time_to_live: int | None
    scheduled_for: int | None
    annotations: bytes
    bare: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """`delivery_count` counts earlier failures; `locked_until` lies in the past until the lock is swept."""

    queue: str
    sequence: int
    state: State
    delivery_count: int
    enqueued_at: int
    expires_at: int | None
    lock_token: UUID | None
    locked_until: int | None
    message: Message


def read_message(encoded: bytes) -> Message:
    header, annotations, properties, bare = amqp.Header(), {}, amqp.Properties(), b""
    for part in amqp.sections(encoded):
        if part.code == amqp.HEADER:
            header = amqp.Header(*part.value())
        elif part.code == amqp.MESSAGE_ANNOTATIONS:
            annotations = part.value()
        elif part.code >= amqp.PROPERTIES:
            bare += part.encoded
            if part.code == amqp.PROPERTIES:
                properties = amqp.Properties(*part.value())
    return Message(
        message_id=None if properties.message_id is None else str(properties.message_id),
        durable=bool(header.durable),
        priority=_number(header.priority, UByte),
        time_to_live=_number(header.time_to_live, UInt),
        scheduled_for=_number(annotations.get(SCHEDULED_ENQUEUE_TIME), Timestamp),
        annotations=encode({k: v for k, v in annotations.items() if k not in WRITTEN_BY_THE_BROKER}),
        bare=bare,
    )


def read_batch(encoded: bytes) -> list[Message]:
    """Each data section of a batch is a whole encoded message."""
    return [read_message(part.value()) for part in amqp.sections(encoded) if part.code == amqp.DATA]


def write_message(stored: Stored, *, show_lock: bool = True) -> bytes:
    """The message as a receiver sees it, under its lock if it has one."""
    parts = [amqp.section(amqp.HEADER, _header(stored))]
    if stored.lock_token is not None and show_lock:
        parts.append(amqp.section(amqp.DELIVERY_ANNOTATIONS, {LOCK_TOKEN: stored.lock_token}))
    parts.append(amqp.section(amqp.MESSAGE_ANNOTATIONS, _annotations(stored)))
    parts.append(stored.message.bare)
    return b"".join(parts)


def _number(value: object, kind: type[int]) -> int | None:
    """What cannot be written back must not be taken in: it would break every delivery of the message."""
    if value is not None and not isinstance(value, kind):
        raise Malformed(f"{value!r} where AMQP has a {kind.__name__.lower()}")
    return value


def _header(stored: Stored) -> amqp.Header:
    message = stored.message
    return amqp.Header(
        durable=message.durable,
        priority=None if message.priority is None else UByte(message.priority),
        time_to_live=None if message.time_to_live is None else UInt(message.time_to_live),
        first_acquirer=False,
        delivery_count=UInt(stored.delivery_count),
    )


def _annotations(stored: Stored) -> dict[Any, Any]:
    annotations = {
        **decode(stored.message.annotations)[0],
        SEQUENCE_NUMBER: stored.sequence,
        ENQUEUED_TIME: Timestamp(stored.enqueued_at),
        MESSAGE_STATE: Int(stored.state),
    }
    if stored.locked_until is not None:
        annotations[LOCKED_UNTIL] = Timestamp(stored.locked_until)
    return annotations

"""A received message as the worker is told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from azure.servicebus import ServiceBusReceivedMessage
from azure.servicebus.amqp import AmqpMessageBodyType

from local.host.messages import TypedData


def body_of(message: ServiceBusReceivedMessage) -> TypedData:
    """The bytes; a body that is an AMQP value becomes text first."""
    if message.body_type is AmqpMessageBodyType.DATA:
        return TypedData(bytes=b"".join(message.body))
    body = message.body
    if isinstance(body, bytes):
        return TypedData(bytes=body)
    text = body if isinstance(body, str) else json.dumps(list(body), default=_json)
    return TypedData(bytes=text.encode())


def metadata_of(message: ServiceBusReceivedMessage) -> Mapping[str, TypedData]:
    """Named as the platform names them; what the message does not have is left out."""
    properties = _application_properties(message)
    values: Mapping[str, Any] = {
        "MessageId": message.message_id,
        "CorrelationId": message.correlation_id,
        "ContentType": message.content_type,
        "Subject": message.subject,
        "Label": message.subject,
        "To": message.to,
        "ReplyTo": message.reply_to,
        "ReplyToSessionId": message.reply_to_session_id,
        "SessionId": message.session_id,
        "PartitionKey": message.partition_key,
        "LockToken": str(message.lock_token),
        "SequenceNumber": message.sequence_number,
        "EnqueuedSequenceNumber": message.enqueued_sequence_number,
        # The SDK counts earlier deliveries, the platform's metadata this one too.
        "DeliveryCount": (message.delivery_count or 0) + 1,
        "State": message.state.value,
        "EnqueuedTimeUtc": message.enqueued_time_utc,
        "ExpiresAtUtc": message.expires_at_utc,
        "LockedUntil": message.locked_until_utc,
        "ScheduledEnqueueTimeUtc": message.scheduled_enqueue_time_utc,
        "DeadLetterSource": message.dead_letter_source,
        "DeadLetterReason": message.dead_letter_reason,
        "DeadLetterErrorDescription": message.dead_letter_error_description,
        "ApplicationProperties": properties,
        # The worker tells one message from many by this name.
        "UserProperties": properties,
    }
    return {name: _typed(value) for name, value in values.items() if value is not None}


def _application_properties(message: ServiceBusReceivedMessage) -> Mapping[str, Any]:
    given = message.application_properties or {}
    return {_text(name): _text(value) for name, value in given.items()}


def _typed(value: Any) -> TypedData:
    if isinstance(value, str):
        return TypedData(string=value)
    return TypedData(json=json.dumps(value, default=_json))


def _text(value: Any) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _json(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(_text(value))

"""The `<entity>/$management` node: what a receiver or a sender asks for besides plain deliveries."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from local.servicebus.amqp.constructors import LONG, TIMESTAMP
from local.servicebus.amqp.values import Array, Int, Malformed
from local.servicebus.broker import Broker, Entity
from local.servicebus.dead_letters import Reason
from local.servicebus.definitions import Right
from local.servicebus.errors import Refused, bad_argument, not_offered, not_readable, too_large
from local.servicebus.messages import Message, Stored, read_message, write_message
from local.servicebus.requests import Reply, Request

PREFIX = "com.microsoft:"
OK, EMPTY = 200, 204
DELETES = 0
MAX_PEEK_BYTES = 1 << 20

type Fields = Mapping[str, Any]


class Management:
    """`require` raises `Refused` when the connection lacks a right on the entity."""

    def __init__(self, *, broker: Broker, entity: Entity, require: Callable[[Right], None]) -> None:
        self._broker = broker
        self._entity = entity
        self._require = require

    def __call__(self, request: Request) -> Reply:
        try:
            return self._answer(request)
        except Refused as refused:
            parameters = _status(refused.status, refused.description)
            return Reply(parameters={**parameters, "errorCondition": refused.condition}, body={})

    def _answer(self, request: Request) -> Reply:
        name = request.operation.removeprefix(PREFIX)
        if name not in OPERATIONS:
            raise not_offered(f"the management operation {request.operation!r}")
        right, operation = OPERATIONS[name]
        self._require(right)
        body = operation(self, request.body if isinstance(request.body, dict) else {})
        if body is None:
            return Reply(parameters=_status(EMPTY, "No Content"), body={})
        return Reply(parameters=_status(OK, "OK"), body=body)

    def _renew_locks(self, fields: Fields) -> dict[str, Any]:
        expirations = self._broker.renew(self._entity, _many(fields, "lock-tokens", UUID))
        return {"expirations": Array(TIMESTAMP, tuple(expirations))}

    def _peek(self, fields: Fields) -> dict[str, Any] | None:
        start, limit = _one(fields, "from-sequence-number", int), _one(fields, "message-count", int)
        messages: list[dict[str, bytes]] = []
        size = 0
        for stored in self._broker.peek(self._entity, start, limit):
            # Whoever peeks must not learn the token of somebody else's lock.
            encoded = write_message(stored, show_lock=False)
            size += len(encoded)
            if messages and size > MAX_PEEK_BYTES:
                break
            messages.append({"message": encoded})
        return {"messages": messages} if messages else None

    def _schedule(self, fields: Fields) -> dict[str, Any]:
        entries = _many(fields, "messages", dict)
        messages = [self._message(_one(entry, "message", bytes)) for entry in entries]
        return {"sequence-numbers": Array(LONG, tuple(self._broker.send(self._entity, messages)))}

    def _cancel_scheduled(self, fields: Fields) -> dict[str, Any]:
        self._broker.cancel_scheduled(self._entity, _many(fields, "sequence-numbers", int))
        return {}

    def _receive_deferred(self, fields: Fields) -> dict[str, Any]:
        deletes = fields.get("receiver-settle-mode") == DELETES
        sequences = _many(fields, "sequence-numbers", int)
        found = self._broker.receive_deferred(self._entity, sequences, delete=deletes)
        return {"messages": [_locked(stored) for stored in found]}

    def _settle(self, fields: Fields) -> dict[str, Any]:
        """All of the tokens, or on the first lost lock none."""
        reason = Reason(
            reason=fields.get("deadletter-reason"), description=fields.get("deadletter-description")
        )
        disposition = _one(fields, "disposition-status", str)
        with self._broker.together():
            for token in _many(fields, "lock-tokens", UUID):
                self._settle_one(disposition, token, reason)
        return {}

    def _settle_one(self, disposition: str, token: UUID, reason: Reason) -> None:
        match disposition:
            case "completed":
                self._broker.complete(self._entity, token)
            case "abandoned":
                self._broker.abandon(self._entity, token)
            case "defered":
                self._broker.defer(self._entity, token)
            case "suspended":
                self._broker.dead_letter(self._entity, token, reason)
            case _:
                raise not_offered(f"the disposition {disposition!r}")

    def _message(self, encoded: bytes) -> Message:
        if len(encoded) > self._entity.max_message_bytes:
            raise too_large(len(encoded), self._entity.max_message_bytes)
        try:
            return read_message(encoded)
        except Malformed as malformed:
            raise not_readable(malformed) from malformed


type Operation = Callable[[Management, Fields], dict[str, Any] | None]

OPERATIONS: MappingProxyType[str, tuple[Right, Operation]] = MappingProxyType(
    {
        "renew-lock": (Right.LISTEN, Management._renew_locks),  # noqa: SLF001 - the table of this very class
        "peek-message": (Right.LISTEN, Management._peek),  # noqa: SLF001
        "receive-by-sequence-number": (Right.LISTEN, Management._receive_deferred),  # noqa: SLF001
        "update-disposition": (Right.LISTEN, Management._settle),  # noqa: SLF001
        "schedule-message": (Right.SEND, Management._schedule),  # noqa: SLF001
        "cancel-scheduled-message": (Right.SEND, Management._cancel_scheduled),  # noqa: SLF001
    }
)


def _one[T](fields: Fields, name: str, kind: type[T]) -> T:
    value = fields.get(name)
    if not isinstance(value, kind):
        raise bad_argument(f"{name!r} must be one {kind.__name__}.")
    return value


def _many[T](fields: Fields, name: str, kind: type[T]) -> list[T]:
    """Clients send arrays or lists."""
    given = fields.get(name)
    items = given.items if isinstance(given, Array) else given
    if not isinstance(items, list | tuple) or not all(isinstance(item, kind) for item in items):
        raise bad_argument(f"{name!r} must be a list of {kind.__name__}.")
    return list(items)


def _status(code: int, description: str) -> dict[str, Any]:
    return {"statusCode": Int(code), "statusDescription": description}


def _locked(stored: Stored) -> dict[str, Any]:
    token = {} if stored.lock_token is None else {"lock-token": stored.lock_token}
    return {"message": write_message(stored), **token}

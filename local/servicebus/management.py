"""The `<entity>/$management` node: what a receiver or a sender asks for besides plain deliveries."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from local.servicebus.amqp.constructors import LONG, TIMESTAMP
from local.servicebus.amqp.values import Array, Int
from local.servicebus.broker import Broker, Entity
from local.servicebus.dead_letters import Reason
from local.servicebus.definitions import Right
from local.servicebus.errors import Refused, not_offered, too_large
from local.servicebus.messages import Message, Stored, read_message, write_message
from local.servicebus.requests import Reply, Request

PREFIX = "com.microsoft:"
OK, EMPTY = 200, 204
DELETES = 0

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
        body = operation(self, request.body or {})
        if body is None:
            return Reply(parameters=_status(EMPTY, "No Content"), body={})
        return Reply(parameters=_status(OK, "OK"), body=body)

    def _renew_locks(self, fields: Fields) -> dict[str, Any]:
        expirations = self._broker.renew(self._entity, _items(fields, "lock-tokens"))
        return {"expirations": Array(TIMESTAMP, tuple(expirations))}

    def _peek(self, fields: Fields) -> dict[str, Any] | None:
        found = self._broker.peek(self._entity, fields["from-sequence-number"], fields["message-count"])
        messages = [{"message": _without_lock(stored)} for stored in found]
        return {"messages": messages} if messages else None

    def _schedule(self, fields: Fields) -> dict[str, Any]:
        messages = [self._message(entry["message"]) for entry in fields["messages"]]
        return {"sequence-numbers": Array(LONG, tuple(self._broker.send(self._entity, messages)))}

    def _cancel_scheduled(self, fields: Fields) -> dict[str, Any]:
        self._broker.cancel_scheduled(self._entity, _items(fields, "sequence-numbers"))
        return {}

    def _receive_deferred(self, fields: Fields) -> dict[str, Any]:
        deletes = fields.get("receiver-settle-mode") == DELETES
        sequences = _items(fields, "sequence-numbers")
        found = self._broker.receive_deferred(self._entity, sequences, delete=deletes)
        return {"messages": [_locked(stored) for stored in found]}

    def _settle(self, fields: Fields) -> dict[str, Any]:
        """All of the tokens, or on the first lost lock none."""
        reason = Reason(
            reason=fields.get("deadletter-reason"), description=fields.get("deadletter-description")
        )
        broker, tokens = self._broker, _items(fields, "lock-tokens")
        with broker.together():
            for token in tokens:
                match fields["disposition-status"]:
                    case "completed":
                        broker.complete(self._entity, token)
                    case "abandoned":
                        broker.abandon(self._entity, token)
                    case "defered":
                        broker.defer(self._entity, token)
                    case "suspended":
                        broker.dead_letter(self._entity, token, reason)
                    case other:
                        raise not_offered(f"the disposition {other!r}")
        return {}

    def _message(self, encoded: bytes) -> Message:
        if len(encoded) > self._entity.max_message_bytes:
            raise too_large(len(encoded), self._entity.max_message_bytes)
        return read_message(encoded)


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


def _items(fields: Fields, name: str) -> list[Any]:
    """Clients send arrays or lists."""
    given = fields[name]
    return list(given.items) if isinstance(given, Array) else list(given)


def _status(code: int, description: str) -> dict[str, Any]:
    return {"statusCode": Int(code), "statusDescription": description}


def _locked(stored: Stored) -> dict[str, Any]:
    token = {} if stored.lock_token is None else {"lock-token": stored.lock_token}
    return {"message": write_message(stored), **token}


def _without_lock(stored: Stored) -> bytes:
    """Whoever peeks must not learn the token of somebody else's lock."""
    return write_message(stored, show_lock=False)

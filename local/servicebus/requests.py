"""Nodes that answer: a request arrives on one link, the reply leaves on the link beside it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.servicebus.amqp import sections as amqp


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`parameters` are the application properties; `body` is the decoded value section."""

    message_id: Any
    reply_to: Any
    parameters: Mapping[Any, Any] = field(default_factory=dict)
    body: Any = None

    @property
    def operation(self) -> str:
        return str(self.parameters.get("operation", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    parameters: Mapping[str, Any]
    body: Any = None


type Node = Callable[[Request], Reply]


def read_request(encoded: bytes) -> Request:
    properties, parameters, body = amqp.Properties(), {}, None
    for part in amqp.sections(encoded):
        if part.code == amqp.PROPERTIES:
            properties = amqp.Properties(*part.value())
        elif part.code == amqp.APPLICATION_PROPERTIES:
            parameters = part.value()
        elif part.code == amqp.VALUE:
            body = part.value()
    return Request(
        message_id=properties.message_id, reply_to=properties.reply_to, parameters=parameters, body=body
    )


def write_reply(reply: Reply, request: Request) -> bytes:
    """The correlation id keeps the type of the request's message id: clients compare both."""
    return b"".join(
        (
            amqp.section(amqp.PROPERTIES, amqp.Properties(correlation_id=request.message_id)),
            amqp.section(amqp.APPLICATION_PROPERTIES, dict(reply.parameters)),
            amqp.section(amqp.VALUE, reply.body),
        )
    )

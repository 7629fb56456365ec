"""What becomes of a delivery that a client sends: a message to keep, or a request to answer."""

from collections.abc import Callable
from functools import partial
from uuid import uuid4

from local.servicebus.attach import Destination, ToNode, ToQueue
from local.servicebus.broker import Broker, Entity
from local.servicebus.errors import not_allowed
from local.servicebus.links import OutgoingLink
from local.servicebus.messages import read_batch, read_message
from local.servicebus.outbound import Outbound
from local.servicebus.requests import Request, read_request, write_reply
from local.servicebus.turn import Turn

BATCH = 0x80013700

type Inlet = Callable[[int, bytes], None]
type FindReplyLink = Callable[[str, Request], OutgoingLink | None]


def inlet(
    destination: Destination, *, broker: Broker, turn: Turn, outbound: Outbound, find: FindReplyLink
) -> Inlet:
    """`find(path, request)` gives the link on which the client reads the replies of a node."""
    match destination:
        case ToQueue(entity=entity):
            return partial(_keep, broker, entity)
        case ToNode():
            return partial(_answer, destination, turn, outbound, find)


def _keep(broker: Broker, entity: Entity, message_format: int, encoded: bytes) -> None:
    messages = read_batch(encoded) if message_format == BATCH else [read_message(encoded)]
    broker.send(entity, messages)


def _answer(
    to: ToNode, turn: Turn, outbound: Outbound, find: FindReplyLink, _format: int, encoded: bytes
) -> None:
    request = read_request(encoded)
    link = find(to.path, request)
    if link is None:
        raise not_allowed(f"There is no link to send the reply of {to.path!r} on.")
    reply = write_reply(to.node(request), request)
    link.spend(1)
    turn.after_commit(partial(_send_reply, outbound, link, reply))


def _send_reply(outbound: Outbound, link: OutgoingLink, reply: bytes) -> None:
    if link.is_open:
        outbound.transfer(link, reply, tag=uuid4().bytes, unsettled=None)

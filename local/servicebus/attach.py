"""Where a link leads and whether it may: to a queue, to `$cbs` or to a queue's `$management`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.servicebus.access import Claims, entity_path
from local.servicebus.amqp.performatives import Attach
from local.servicebus.amqp.values import Described, ULong
from local.servicebus.broker import Broker, Entity
from local.servicebus.cbs import PutToken
from local.servicebus.definitions import Policy, Right
from local.servicebus.errors import not_offered, unknown_entity
from local.servicebus.management import Management
from local.servicebus.requests import Node

CBS = "$cbs"
MANAGEMENT = "/$management"
COORDINATOR = ULong(0x30)
FILTER_FIELD = 7
SESSION_FILTER = "com.microsoft:session-filter"
MAX_REQUEST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ToQueue:
    path: str
    entity: Entity

    @property
    def max_message_bytes(self) -> int:
        return self.entity.max_message_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ToNode:
    path: str
    node: Node

    @property
    def max_message_bytes(self) -> int:
        return MAX_REQUEST_BYTES


type Destination = ToQueue | ToNode


class Directory:
    """Resolves the addresses of one connection; `clock` gives seconds since 1970 UTC."""

    def __init__(self, *, broker: Broker, policies: Mapping[str, Policy], clock: Callable[[], float]) -> None:
        self._broker = broker
        self._clock = clock
        self._claims = Claims()
        self._put_token = PutToken(claims=self._claims, policies=policies, clock=clock)

    def resolve(self, attach: Attach) -> Destination:
        """`Refused` for what does not exist, is not offered, or is not allowed to this connection."""
        path = entity_path(address_of(_far_end(attach)))
        if path == CBS:
            return ToNode(path=path, node=self._put_token)
        if path.endswith(MANAGEMENT):
            return ToNode(path=path, node=self._management(path.removesuffix(MANAGEMENT)))
        _refuse_what_is_not_offered(attach)
        entity = self._broker.entity(path)
        self._require(Right.LISTEN if attach.role else Right.SEND, path)
        return ToQueue(path=path, entity=entity)

    def _management(self, path: str) -> Management:
        # Rights depend on the operation, so each request is asked for its own.
        entity = self._broker.entity(path)
        return Management(
            broker=self._broker, entity=entity, require=lambda right: self._require(right, path)
        )

    def _require(self, right: Right, path: str) -> None:
        self._claims.require(right, path, self._clock())


def address_of(terminus: Any) -> str:
    """Source and target both begin with the address."""
    if not isinstance(terminus, Described) or not terminus.value or terminus.value[0] is None:
        return ""
    return str(terminus.value[0])


def _far_end(attach: Attach) -> Described | None:
    return attach.source if attach.role else attach.target


def _refuse_what_is_not_offered(attach: Attach) -> None:
    far_end = _far_end(attach)
    if far_end is None:
        raise unknown_entity("")
    if far_end.descriptor == COORDINATOR:
        raise not_offered("transactions")
    has_filter = attach.role and len(far_end.value) > FILTER_FIELD
    if has_filter and SESSION_FILTER in (far_end.value[FILTER_FIELD] or {}):
        raise not_offered("sessions")

"""A queue's end of a link that delivers: what dispatch knows as a receiver."""

from contextlib import suppress
from uuid import uuid4

from local.servicebus.broker import Broker, Entity
from local.servicebus.errors import Refused
from local.servicebus.links import OutgoingLink
from local.servicebus.messages import Stored, write_message
from local.servicebus.outbound import Outbound, Unsettled


class QueueOutlet:
    def __init__(
        self, *, broker: Broker, entity: Entity, deletes: bool, link: OutgoingLink, outbound: Outbound
    ) -> None:
        self._broker = broker
        self._entity = entity
        self._deletes = deletes
        self._link = link
        self._outbound = outbound

    @property
    def entity(self) -> Entity:
        return self._entity

    @property
    def deletes(self) -> bool:
        return self._deletes

    def has_room(self) -> bool:
        return self._link.is_open and self._link.credit > 0 and self._outbound.has_room()

    def reserve(self) -> None:
        self._link.spend(1)

    def deliver(self, stored: Stored) -> None:
        if not self._link.is_open:
            self._give_back(stored)
            return
        token = stored.lock_token
        self._outbound.transfer(
            self._link,
            write_message(stored),
            tag=(token or uuid4()).bytes_le,
            unsettled=None if token is None else Unsettled(self._entity, token),
        )

    def _give_back(self, stored: Stored) -> None:
        # The link closed while the lock was being written: nobody has seen the message.
        if stored.lock_token is not None:
            with suppress(Refused):
                self._broker.release(self._entity, stored.lock_token)

"""One AMQP session: which links it has, and what each frame on it means for them."""

import logging
from functools import partial
from typing import Any

from local.servicebus.amqp import outcomes
from local.servicebus.amqp.performatives import (
    Attach,
    Begin,
    Detach,
    Disposition,
    Flow,
    Performative,
    Transfer,
)
from local.servicebus.amqp.values import Described, Malformed, Symbol, UByte, UInt, ULong, UShort
from local.servicebus.attach import Destination, Directory, ToQueue, address_of
from local.servicebus.broker import Broker
from local.servicebus.dispatch import Dispatch
from local.servicebus.errors import Refused, not_readable
from local.servicebus.inlets import inlet
from local.servicebus.links import SERIAL, Delivery, IncomingLink, OutgoingLink
from local.servicebus.outbound import WINDOW, Outbound, Wire
from local.servicebus.outlet import QueueOutlet
from local.servicebus.requests import Request
from local.servicebus.settlement import settle
from local.servicebus.turn import Turn

log = logging.getLogger(__name__)

HANDLE_MAX = UInt(255)
SETTLED_IN_ADVANCE = 1
MAX_BATCH_SIZE = Symbol("com.microsoft:max-message-batch-size")
SENDER, RECEIVER = False, True


class Session:
    def __init__(
        self,
        *,
        wire: Wire,
        channel: int,
        begin: Begin,
        directory: Directory,
        broker: Broker,
        dispatch: Dispatch,
        turn: Turn,
    ) -> None:
        self._directory = directory
        self._broker = broker
        self._dispatch = dispatch
        self._turn = turn
        self._outbound = Outbound(wire, channel, begin)
        self._next_incoming_id = int(begin.next_outgoing_id)
        self._next_handle = 0
        # By the client's handle.
        self._incoming: dict[int, IncomingLink] = {}
        self._outgoing: dict[int, OutgoingLink] = {}
        self._outlets: dict[int, QueueOutlet] = {}
        self._outbound.write(Begin(UShort(channel), UInt(0), WINDOW, WINDOW, HANDLE_MAX))

    def handle(self, performative: Performative | None, payload: bytes) -> None:
        match performative:
            case Attach():
                self._on_attach(performative)
            case Flow():
                self._on_flow(performative)
            case Transfer():
                self._on_transfer(performative, payload)
            case Disposition():
                self._on_disposition(performative)
            case Detach():
                self._on_detach(performative)
            case _:
                raise Malformed(f"{type(performative).__name__} does not belong into a session")

    def close(self) -> None:
        """Forget the links. Losing a link unlocks nothing: locks end with a settlement or with time."""
        for handle in [*self._incoming, *self._outgoing]:
            self._drop(handle)
        self._outbound.close()

    def look_again(self) -> None:
        """There may be room for deliveries that there was not before."""
        for outlet in self._outlets.values():
            self._dispatch.wake(outlet.entity.key)

    def _on_attach(self, attach: Attach) -> None:
        handle = UInt(self._next_handle)
        self._next_handle += 1
        try:
            destination = self._directory.resolve(attach)
        except Refused as refused:
            self._refuse(attach, handle, refused)
            return
        if attach.role is RECEIVER:
            self._open_outgoing(attach, handle, destination)
        else:
            self._open_incoming(attach, handle, destination)

    def _refuse(self, attach: Attach, handle: UInt, refused: Refused) -> None:
        log.warning("servicebus.link_refused condition=%s reason=%r", refused.condition, str(refused))
        # An answer without source and target announces that the detach behind it is a refusal.
        count = UInt(0) if attach.role is RECEIVER else None
        self._outbound.write(Attach(attach.name, handle, not attach.role, initial_delivery_count=count))
        self._outbound.write(Detach(handle, closed=True, error=outcomes.error(refused.problem)))

    def _open_incoming(self, attach: Attach, handle: UInt, destination: Destination) -> None:
        accept = inlet(
            destination,
            broker=self._broker,
            turn=self._turn,
            outbound=self._outbound,
            find=self._reply_link,
        )
        limit = destination.max_message_bytes
        link = IncomingLink(handle=handle, max_message_bytes=limit, accept=accept)
        self._incoming[attach.handle] = link
        is_queue = isinstance(destination, ToQueue)
        self._confirm(attach, handle, limit, {MAX_BATCH_SIZE: ULong(limit)} if is_queue else None)
        self._top_up(link)

    def _open_outgoing(self, attach: Attach, handle: UInt, destination: Destination) -> None:
        link = OutgoingLink(handle=handle, path=destination.path, reply_to=address_of(attach.target))
        self._outgoing[attach.handle] = link
        self._confirm(attach, handle, destination.max_message_bytes, None)
        if isinstance(destination, ToQueue):
            outlet = QueueOutlet(
                broker=self._broker,
                entity=destination.entity,
                deletes=attach.send_settle_mode == SETTLED_IN_ADVANCE,
                link=link,
                outbound=self._outbound,
            )
            self._outlets[attach.handle] = outlet
            self._dispatch.add(outlet)

    def _confirm(
        self, attach: Attach, handle: UInt, limit: int, properties: dict[Symbol, Any] | None
    ) -> None:
        self._outbound.write(
            Attach(
                attach.name,
                handle,
                not attach.role,
                send_settle_mode=attach.send_settle_mode,
                receive_settle_mode=attach.receive_settle_mode or UByte(0),
                source=attach.source,
                target=attach.target,
                initial_delivery_count=UInt(0) if attach.role is RECEIVER else None,
                max_message_size=ULong(limit),
                properties=properties,
            )
        )

    def _reply_link(self, path: str, request: Request) -> OutgoingLink | None:
        beside = [link for link in self._outgoing.values() if link.path == path and link.is_open]
        named = [link for link in beside if link.reply_to == request.reply_to]
        return next(iter(named or beside), None)

    def _on_detach(self, detach: Detach) -> None:
        handle = self._drop(detach.handle)
        if handle is not None:
            self._outbound.write(Detach(handle, closed=bool(detach.closed)))

    def _drop(self, remote_handle: int) -> UInt | None:
        """Our handle of the link, None if there is no such link (any more)."""
        incoming = self._incoming.pop(remote_handle, None)
        outgoing = self._outgoing.pop(remote_handle, None)
        outlet = self._outlets.pop(remote_handle, None)
        if outlet is not None:
            self._dispatch.remove(outlet)
        if outgoing is not None:
            outgoing.is_open = False
        link = incoming or outgoing
        return None if link is None else link.handle

    def _on_flow(self, flow: Flow) -> None:
        self._outbound.open_window(flow)
        link = None if flow.handle is None else self._outgoing.get(flow.handle)
        if link is not None:
            link.grant(flow)
        self.look_again()
        if link is not None and (flow.drain or flow.echo):
            # What is ready goes out first; credit that is left over then lapses.
            self._turn.before_commit(
                partial(self._turn.after_commit, partial(self._report, link, drain=bool(flow.drain)))
            )

    def _report(self, link: OutgoingLink, *, drain: bool) -> None:
        if drain:
            link.spend(link.credit)
        self._outbound.flow(
            self._next_incoming_id, link.handle, link.delivery_count, link.credit, drain=drain
        )

    def _on_transfer(self, transfer: Transfer, payload: bytes) -> None:
        self._next_incoming_id = (self._next_incoming_id + 1) % SERIAL
        link = self._incoming.get(transfer.handle)
        delivery = None if link is None else link.collect(transfer, payload)
        if link is None or delivery is None:
            return
        outcome = _accept(link, delivery)
        if not delivery.settled:
            self._confirm_after_commit(RECEIVER, delivery.delivery_id, outcome)
        self._top_up(link)

    def _top_up(self, link: IncomingLink) -> None:
        if link.top_up():
            self._outbound.flow(
                self._next_incoming_id, link.handle, link.delivery_count, link.credit, drain=False
            )

    def _on_disposition(self, disposition: Disposition) -> None:
        if disposition.role is SENDER:
            return
        first = disposition.first
        last = first if disposition.last is None else disposition.last
        for delivery_id, delivery in self._outbound.take_unsettled(first, last):
            outcome = settle(self._broker, delivery, disposition.state)
            if not disposition.settled:
                self._confirm_after_commit(SENDER, delivery_id, outcome)

    def _confirm_after_commit(self, role: bool, delivery_id: UInt, outcome: Described) -> None:
        settled = Disposition(role, delivery_id, delivery_id, settled=True, state=outcome)
        self._turn.after_commit(partial(self._outbound.write, settled))


def _accept(link: IncomingLink, delivery: Delivery) -> Described:
    try:
        link.accept(delivery)
    except Refused as refused:
        return outcomes.rejected(refused.problem)
    except Malformed as malformed:
        return outcomes.rejected(not_readable(malformed).problem)
    return outcomes.accepted()

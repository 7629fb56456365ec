"""Brings ready messages and waiting receivers together, each receiver of a queue in turn."""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from local.servicebus.broker import Broker, Entity
from local.servicebus.messages import Stored
from local.servicebus.turn import Turn

# Bounds what one turn holds in memory; the rest follows in the next turn.
DELIVERIES_A_TURN = 64


class Receiver(Protocol):
    @property
    def entity(self) -> Entity: ...

    @property
    def deletes(self) -> bool:
        """Receive-and-delete: what it gets is gone from the queue."""

    def has_room(self) -> bool: ...

    def reserve(self) -> None:
        """Promise one place to a delivery that follows once it is on disk."""

    def deliver(self, stored: Stored) -> None: ...


class Dispatch:
    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._receivers: dict[str, deque[Receiver]] = {}
        self._awake: set[str] = set()
        self._broker: Broker | None = None

    def serve(self, broker: Broker) -> None:
        """Take messages from this broker; its `on_ready` is expected to be our `wake`."""
        self._broker = broker

    def add(self, receiver: Receiver) -> None:
        self._receivers.setdefault(receiver.entity.key, deque()).append(receiver)

    def remove(self, receiver: Receiver) -> None:
        waiting = self._receivers.get(receiver.entity.key)
        if waiting is not None and receiver in waiting:
            waiting.remove(receiver)

    def wake(self, key: str) -> None:
        """Look at this entity once before the turn commits: it may have messages, or a receiver room."""
        if key in self._awake or not self._receivers.get(key):
            return
        self._awake.add(key)
        self._turn.before_commit(partial(self._pump, key))

    def _pump(self, key: str) -> None:
        self._awake.discard(key)
        for _ in range(DELIVERIES_A_TURN):
            receiver = self._next_with_room(key)
            if receiver is None or not self._hand_over(receiver):
                return
        self._turn.after_commit(partial(self.wake, key))

    def _next_with_room(self, key: str) -> Receiver | None:
        waiting = self._receivers[key]
        for _ in range(len(waiting)):
            waiting.rotate(-1)
            if waiting[-1].has_room():
                return waiting[-1]
        return None

    def _hand_over(self, receiver: Receiver) -> bool:
        broker = self._broker
        if broker is None:
            return False
        take: Callable[[Entity], Stored | None] = broker.take if receiver.deletes else broker.lock
        stored = take(receiver.entity)
        if stored is None:
            return False
        receiver.reserve()
        self._turn.after_commit(partial(receiver.deliver, stored))
        return True

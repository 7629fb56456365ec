"""The rules of a queue: locks, counts, schedules, duplicates, expiry. Knows no link and no frame.

Every public method that changes something is atomic, and takes effect for others when the turn commits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

from local.servicebus import dead_letters
from local.servicebus.definitions import Queue
from local.servicebus.errors import lock_lost, message_missing, not_allowed, unknown_entity
from local.servicebus.messages import Message, State, Stored
from local.servicebus.store import Store
from local.servicebus.turn import Turn

DUPLICATE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A queue or its dead-letter queue; `key` names it in the store."""

    key: str
    queue: Queue
    is_dead_letter: bool

    @property
    def dead_letter_key(self) -> str:
        return self.key + dead_letters.SUFFIX

    @property
    def max_message_bytes(self) -> int:
        return self.queue.max_message_size_in_kilobytes * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """`active` includes the locked ones, as it does in Azure."""

    active: int
    locked: int
    deferred: int
    scheduled: int
    dead_letter: int


class Broker:
    """`clock` gives milliseconds since 1970 UTC; `on_ready` hears which entity may have messages now."""

    def __init__(
        self,
        *,
        store: Store,
        turn: Turn,
        queues: Mapping[str, Queue],
        clock: Callable[[], int],
        on_ready: Callable[[str], None],
    ) -> None:
        self._store = store
        self._turn = turn
        self._queues = {name.lower(): queue for name, queue in queues.items()}
        self._names = tuple(queues)
        self._clock = clock
        self._on_ready = on_ready

    @property
    def queue_names(self) -> tuple[str, ...]:
        return self._names

    def entity(self, path: str) -> Entity:
        """The queue, or with `/$DeadLetterQueue` behind it its dead letters; case does not matter."""
        key = path.strip("/").lower()
        name = key.removesuffix(dead_letters.SUFFIX)
        if name not in self._queues:
            raise unknown_entity(path)
        return Entity(key=key, queue=self._queues[name], is_dead_letter=key != name)

    def check_definitions(self) -> None:
        """`ValueError` if messages wait in a queue that is not defined: nobody could ever receive them."""
        held = {key.removesuffix(dead_letters.SUFFIX) for key in self._store.queues()}
        if unknown := sorted(held - self._queues.keys()):
            raise ValueError(f"messages are kept for queues without a definition: {', '.join(unknown)}")

    def send(self, entity: Entity, messages: Sequence[Message]) -> list[int]:
        """Sequence numbers in order, `DUPLICATE` for what was dropped as one. All are stored or none."""
        if entity.is_dead_letter:
            raise not_allowed("Messages cannot be sent to a dead-letter queue.")
        with self._turn.operation():
            return [self._enqueue(entity, message) for message in messages]

    def together(self) -> AbstractContextManager[None]:
        """Make several changes one: all of those inside, or on an exception none."""
        return self._turn.operation()

    def lock(self, entity: Entity) -> Stored | None:
        """The next message, locked; None if there is none."""
        with self._turn.operation():
            stored = self._store.first_ready(entity.key, self._clock())
            return None if stored is None else self._locked(entity, stored)

    def take(self, entity: Entity) -> Stored | None:
        """The next message, which is then gone: receive-and-delete."""
        with self._turn.operation():
            stored = self._store.first_ready(entity.key, self._clock())
            if stored is not None:
                self._store.remove(stored)
            return stored

    def complete(self, entity: Entity, token: UUID) -> None:
        with self._turn.operation():
            self._store.remove(self._under_lock(entity, token))

    def abandon(self, entity: Entity, token: UUID) -> None:
        """Counts as a failed delivery."""
        with self._turn.operation():
            self._count_failure(self._under_lock(entity, token))

    def release(self, entity: Entity, token: UUID) -> None:
        """Unlock what was never looked at: not counted."""
        with self._turn.operation():
            stored = self._under_lock(entity, token)
            self._unlock(stored, stored.delivery_count)

    def defer(self, entity: Entity, token: UUID) -> None:
        with self._turn.operation():
            stored = self._under_lock(entity, token)
            deferred = replace(stored, state=State.DEFERRED, lock_token=None, locked_until=None)
            self._store.replace(stored, deferred)

    def dead_letter(self, entity: Entity, token: UUID, reason: dead_letters.Reason) -> None:
        with self._turn.operation():
            self._to_dead_letters(self._under_lock(entity, token), reason)

    def renew(self, entity: Entity, tokens: Sequence[UUID]) -> list[int]:
        """When each lock now ends."""
        until = self._clock() + _milliseconds(entity.queue.lock_duration)
        with self._turn.operation():
            for token in tokens:
                stored = self._under_lock(entity, token)
                self._store.set_lock(stored, token, until, stored.delivery_count)
        return [until] * len(tokens)

    def cancel_scheduled(self, entity: Entity, sequences: Sequence[int]) -> None:
        with self._turn.operation():
            for sequence in sequences:
                stored = self._store.find(entity.key, sequence)
                if stored is None or stored.state is not State.SCHEDULED:
                    raise message_missing(sequence, "scheduled")
                self._store.remove(stored)

    def receive_deferred(self, entity: Entity, sequences: Sequence[int], *, delete: bool) -> list[Stored]:
        with self._turn.operation():
            found = [self._deferred(entity, sequence) for sequence in sequences]
            if not delete:
                return [self._locked(entity, stored) for stored in found]
            for stored in found:
                self._store.remove(stored)
            return found

    def peek(self, entity: Entity, sequence: int, limit: int) -> Iterator[Stored]:
        """Whatever its state, locked or not, from this number on; to be iterated before anything changes."""
        return self._store.from_sequence(entity.key, sequence, limit)

    def counts(self, entity: Entity) -> Counts:
        now = self._clock()
        rows = {state: (n, locked) for state, n, locked in self._store.counts(entity.key, now)}
        return Counts(
            active=rows.get(State.ACTIVE, (0, 0))[0],
            locked=sum(locked for _, locked in rows.values()),
            deferred=rows.get(State.DEFERRED, (0, 0))[0],
            scheduled=rows.get(State.SCHEDULED, (0, 0))[0],
            dead_letter=sum(n for _, n, _ in self._store.counts(entity.dead_letter_key, now)),
        )

    def run_due(self) -> None:
        """End the locks, activate the schedules and expire the messages whose time has come."""
        now = self._clock()
        due = self._store.due(now)
        if not due:
            return
        with self._turn.operation():
            for stored in due:
                self._settle_due(stored, now)

    def forget_seen(self) -> None:
        """Drop the message ids that duplicate detection need not remember any longer."""
        with self._turn.operation():
            self._store.forget_seen(self._clock())

    def _enqueue(self, entity: Entity, message: Message) -> int:
        now = self._clock()
        queue = entity.queue
        if queue.requires_duplicate_detection and message.message_id is not None:
            until = now + _milliseconds(queue.duplicate_detection_history_time_window)
            if not self._store.see(entity.key, message.message_id, now=now, until=until):
                return DUPLICATE
        is_later = message.scheduled_for is not None and message.scheduled_for > now
        stored = Stored(
            queue=entity.key,
            sequence=self._store.next_sequence(entity.key),
            state=State.SCHEDULED if is_later else State.ACTIVE,
            delivery_count=0,
            enqueued_at=now,
            expires_at=None if is_later else _expiry(queue, message, now),
            lock_token=None,
            locked_until=None,
            message=message,
        )
        self._store.add(stored)
        if not is_later:
            self._on_ready(entity.key)
        return stored.sequence

    def _locked(self, entity: Entity, stored: Stored) -> Stored:
        token, until = uuid4(), self._clock() + _milliseconds(entity.queue.lock_duration)
        self._store.set_lock(stored, token, until, stored.delivery_count)
        return replace(stored, lock_token=token, locked_until=until)

    def _under_lock(self, entity: Entity, token: UUID) -> Stored:
        stored = self._store.find_locked(entity.key, token)
        if stored is None or stored.locked_until is None or stored.locked_until <= self._clock():
            raise lock_lost()
        return stored

    def _deferred(self, entity: Entity, sequence: int) -> Stored:
        stored = self._store.find(entity.key, sequence)
        if stored is None or stored.state is not State.DEFERRED or stored.lock_token is not None:
            raise message_missing(sequence, "deferred")
        return stored

    def _unlock(self, stored: Stored, delivery_count: int) -> None:
        self._store.set_lock(stored, None, None, delivery_count)
        self._on_ready(stored.queue)

    def _count_failure(self, stored: Stored) -> None:
        # Dead letters neither count nor overflow: there is nowhere left to put them.
        entity = self.entity(stored.queue)
        failures = stored.delivery_count + (0 if entity.is_dead_letter else 1)
        limit = entity.queue.max_delivery_count
        if failures >= limit and not entity.is_dead_letter:
            counted = replace(stored, delivery_count=failures)
            self._to_dead_letters(counted, dead_letters.too_many_deliveries(limit))
        else:
            self._unlock(stored, failures)

    def _to_dead_letters(self, stored: Stored, reason: dead_letters.Reason) -> None:
        entity = self.entity(stored.queue)
        if entity.is_dead_letter:
            self._unlock(stored, stored.delivery_count)
            return
        dead = replace(
            stored,
            queue=entity.dead_letter_key,
            state=State.ACTIVE,
            expires_at=None,
            lock_token=None,
            locked_until=None,
            message=dead_letters.with_reason(stored.message, reason),
        )
        self._store.replace(stored, dead)
        self._on_ready(dead.queue)

    def _settle_due(self, stored: Stored, now: int) -> None:
        if stored.lock_token is not None:
            self._count_failure(stored)
        elif stored.state is State.SCHEDULED:
            self._activate(stored, now)
        elif self.entity(stored.queue).queue.dead_lettering_on_message_expiration:
            self._to_dead_letters(stored, dead_letters.EXPIRED)
        else:
            self._store.remove(stored)

    def _activate(self, stored: Stored, now: int) -> None:
        # As in Azure it joins the queue as if sent now, under a new number.
        active = replace(
            stored,
            sequence=self._store.next_sequence(stored.queue),
            state=State.ACTIVE,
            enqueued_at=now,
            expires_at=_expiry(self.entity(stored.queue).queue, stored.message, now),
        )
        self._store.replace(stored, active)
        self._on_ready(stored.queue)


def _expiry(queue: Queue, message: Message, now: int) -> int | None:
    limits = [message.time_to_live] if message.time_to_live is not None else []
    if queue.default_message_time_to_live is not None:
        limits.append(_milliseconds(queue.default_message_time_to_live))
    return now + min(limits) if limits else None


def _milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)

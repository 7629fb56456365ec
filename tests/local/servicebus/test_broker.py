"""The rules of a queue, by a clock that the tests move."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from local.servicebus.amqp import outcomes, sections
from local.servicebus.amqp.outcomes import Modification, Problem
from local.servicebus.amqp.values import Described, Malformed, Symbol
from local.servicebus.broker import DUPLICATE, Counts
from local.servicebus.dead_letters import Reason
from local.servicebus.definitions import Queue
from local.servicebus.errors import Refused
from local.servicebus.messages import State, read_batch
from local.servicebus.outbound import Unsettled
from local.servicebus.settlement import settle
from tests.local.servicebus.builders import (
    START,
    Bench,
    a_message,
    application_properties_of,
    body_of,
    encoded,
    lock,
    send,
    token_of,
)

LOCK = timedelta(seconds=30)
QUEUES = {
    "documents": Queue(lock_duration=LOCK, max_delivery_count=3),
    "drop": Queue(
        dead_lettering_on_message_expiration=False, default_message_time_to_live=timedelta(seconds=10)
    ),
    "no-duplicates": Queue(duplicate_detection_history_time_window=timedelta(minutes=10)),
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "servicebus.db", QUEUES)
    yield bench
    bench.lose_power()


def test_messages_come_in_the_order_they_were_sent(bench: Bench) -> None:
    send(bench, b"first", b"second")
    send(bench, b"third")

    assert [body_of(lock(bench)) for _ in range(3)] == [b"first", b"second", b"third"]
    assert bench.broker.lock(bench.queue()) is None


def test_a_locked_message_is_nobody_elses_until_its_lock_expires(bench: Bench) -> None:
    send(bench, b"one")
    first = lock(bench)

    bench.pass_time(seconds=29)
    assert bench.broker.lock(bench.queue()) is None

    bench.pass_time(seconds=1)
    again = lock(bench)
    assert (first.delivery_count, again.delivery_count) == (0, 1)
    assert again.sequence == first.sequence
    assert again.lock_token != first.lock_token


def test_an_expired_lock_settles_nothing_even_before_it_is_swept(bench: Bench) -> None:
    send(bench, b"one")
    held = lock(bench)
    bench.now += int(LOCK.total_seconds() * 1000)

    with pytest.raises(Refused, match="lock supplied is invalid"):
        bench.broker.complete(bench.queue(), token_of(held))


def test_a_renewed_lock_lasts_from_the_renewal(bench: Bench) -> None:
    send(bench, b"one")
    held = lock(bench)
    bench.pass_time(seconds=20)

    assert bench.broker.renew(bench.queue(), [token_of(held)]) == [START + 50_000]

    bench.pass_time(seconds=29)
    bench.broker.complete(bench.queue(), token_of(held))


def test_a_completed_message_is_gone(bench: Bench) -> None:
    send(bench, b"one")
    held = lock(bench)

    bench.broker.complete(bench.queue(), token_of(held))

    with pytest.raises(Refused):
        bench.broker.complete(bench.queue(), token_of(held))
    bench.pass_time(hours=1)
    assert list(bench.broker.peek(bench.queue(), 1, 10)) == []


def test_an_abandoned_message_comes_back_counted_and_a_released_one_uncounted(bench: Bench) -> None:
    send(bench, b"one")

    bench.broker.release(bench.queue(), token_of(lock(bench)))
    held = lock(bench)
    assert held.delivery_count == 0

    bench.broker.abandon(bench.queue(), token_of(held))
    assert lock(bench).delivery_count == 1


def test_the_last_allowed_failure_moves_the_message_to_the_dead_letters(bench: Bench) -> None:
    send(bench, b"poison")

    counts = []
    for _ in range(3):
        held = lock(bench)
        counts.append(held.delivery_count)
        bench.broker.abandon(bench.queue(), token_of(held))

    assert counts == [0, 1, 2]
    assert bench.broker.lock(bench.queue()) is None
    dead = bench.broker.lock(bench.dead_letters())
    assert dead is not None
    assert (body_of(dead), dead.delivery_count) == (b"poison", 3)
    assert application_properties_of(dead) == {
        "DeadLetterReason": "MaxDeliveryCountExceeded",
        "DeadLetterErrorDescription": "Message could not be consumed after 3 delivery attempts.",
    }


def test_lock_expiry_counts_towards_the_limit_too(bench: Bench) -> None:
    send(bench, b"slow")

    for _ in range(3):
        lock(bench)
        bench.pass_time(seconds=30)

    assert bench.broker.counts(bench.queue()).dead_letter == 1


def test_dead_letters_stay_where_they_are_whatever_fails(bench: Bench) -> None:
    send(bench, b"bad")
    bench.broker.dead_letter(bench.queue(), token_of(lock(bench)), Reason(reason="Schema", description="x"))

    for _ in range(10):
        dead = bench.broker.lock(bench.dead_letters())
        assert dead is not None
        bench.broker.abandon(bench.dead_letters(), token_of(dead))
    bench.pass_time(days=30)

    assert bench.broker.counts(bench.queue()).dead_letter == 1


def test_nothing_can_be_sent_to_the_dead_letters(bench: Bench) -> None:
    with pytest.raises(Refused, match="dead-letter"):
        bench.broker.send(bench.dead_letters(), [a_message()])


def test_a_deferred_message_is_received_by_its_number_only(bench: Bench) -> None:
    send(bench, b"later")
    held = lock(bench)
    bench.broker.defer(bench.queue(), token_of(held))
    assert bench.broker.lock(bench.queue()) is None

    (found,) = bench.broker.receive_deferred(bench.queue(), [held.sequence], delete=False)
    with pytest.raises(Refused, match="deferred"):
        bench.broker.receive_deferred(bench.queue(), [held.sequence], delete=False)
    bench.broker.abandon(bench.queue(), token_of(found))
    (again,) = bench.broker.receive_deferred(bench.queue(), [held.sequence], delete=True)

    assert (found.delivery_count, again.delivery_count, again.state) == (0, 1, State.DEFERRED)
    assert list(bench.broker.peek(bench.queue(), 1, 10)) == []


def test_a_missing_deferred_message_leaves_the_others_unlocked(bench: Bench) -> None:
    send(bench, b"later")
    held = lock(bench)
    bench.broker.defer(bench.queue(), token_of(held))

    with pytest.raises(Refused):
        bench.broker.receive_deferred(bench.queue(), [held.sequence, 999], delete=False)

    assert bench.broker.receive_deferred(bench.queue(), [held.sequence], delete=False)


def test_a_scheduled_message_joins_under_a_new_number_when_its_time_comes(bench: Bench) -> None:
    (number,) = bench.broker.send(bench.queue(), [a_message(b"later", at=START + 60_000)])
    send(bench, b"now")
    bench.broker.complete(bench.queue(), token_of(lock(bench)))
    assert bench.broker.lock(bench.queue()) is None

    bench.pass_time(seconds=60)

    due = lock(bench)
    assert body_of(due) == b"later"
    assert due.sequence > number
    assert due.enqueued_at == START + 60_000


def test_a_scheduled_message_can_be_cancelled_once_and_only_by_its_number(bench: Bench) -> None:
    (number,) = bench.broker.send(bench.queue(), [a_message(at=START + 60_000)])
    (active,) = send(bench, b"now")

    with pytest.raises(Refused):
        bench.broker.cancel_scheduled(bench.queue(), [number, active])
    bench.broker.cancel_scheduled(bench.queue(), [number])

    with pytest.raises(Refused):
        bench.broker.cancel_scheduled(bench.queue(), [number])
    assert [body_of(stored) for stored in bench.broker.peek(bench.queue(), 1, 10)] == [b"now"]


def test_the_same_message_id_is_dropped_within_the_window_even_after_completion(bench: Bench) -> None:
    queue = bench.queue("no-duplicates")
    (number,) = bench.broker.send(queue, [a_message(message_id="a")])
    assert bench.broker.send(queue, [a_message(message_id="a")]) == [DUPLICATE]
    bench.broker.complete(queue, token_of(lock(bench, "no-duplicates")))

    bench.pass_time(minutes=9)
    assert bench.broker.send(queue, [a_message(message_id="a")]) == [DUPLICATE]

    bench.pass_time(minutes=1)
    assert bench.broker.send(queue, [a_message(message_id="a")]) == [number + 1]


def test_a_dropped_duplicate_does_not_extend_the_window_and_other_queues_do_not_share_it(
    bench: Bench,
) -> None:
    bench.broker.send(bench.queue("no-duplicates"), [a_message(message_id="a")])

    assert bench.broker.send(bench.queue(), [a_message(message_id="a")]) != [DUPLICATE]
    assert bench.broker.send(bench.queue("no-duplicates"), [a_message()] * 2) == [2, 3]


def test_forgetting_ids_spares_those_still_in_the_window(bench: Bench) -> None:
    bench.broker.send(bench.queue("no-duplicates"), [a_message(message_id="old")])
    bench.pass_time(minutes=6)
    bench.broker.send(bench.queue("no-duplicates"), [a_message(message_id="young")])
    bench.pass_time(minutes=6)

    bench.broker.forget_seen()

    assert bench.database.execute("SELECT message_id FROM seen").fetchall() == [("young",)]


def test_an_expired_message_is_dead_lettered_with_its_reason(bench: Bench) -> None:
    bench.broker.send(bench.queue(), [a_message(b"stale", ttl=5_000)])

    bench.now += 5_000
    assert bench.broker.lock(bench.queue()) is None
    bench.broker.run_due()

    dead = bench.broker.lock(bench.dead_letters())
    assert dead is not None
    assert application_properties_of(dead)["DeadLetterReason"] == "TTLExpiredException"


def test_a_lock_outlives_the_time_to_live(bench: Bench) -> None:
    bench.broker.send(bench.queue(), [a_message(ttl=5_000)])
    held = lock(bench)

    bench.pass_time(seconds=20)

    bench.broker.complete(bench.queue(), token_of(held))


def test_without_dead_lettering_an_expired_message_is_dropped_by_the_queues_own_limit(bench: Bench) -> None:
    bench.broker.send(bench.queue("drop"), [a_message(ttl=3_600_000)])

    bench.pass_time(seconds=10)

    assert list(bench.broker.peek(bench.queue("drop"), 1, 10)) == []
    assert bench.broker.counts(bench.queue("drop")).dead_letter == 0


def test_counts_tell_active_locked_deferred_scheduled_and_dead(bench: Bench) -> None:
    send(bench, b"defer", b"dead", b"locked", b"free")
    bench.broker.send(bench.queue(), [a_message(at=START + 60_000)])
    bench.broker.defer(bench.queue(), token_of(lock(bench)))
    bench.broker.dead_letter(bench.queue(), token_of(lock(bench)), Reason(reason=None, description=None))
    lock(bench)

    assert bench.broker.counts(bench.queue()) == Counts(
        active=2, locked=1, deferred=1, scheduled=1, dead_letter=1
    )


def test_peeking_sees_every_state_from_a_number_on_and_locks_nothing(bench: Bench) -> None:
    numbers = send(bench, b"a", b"b", b"c")
    lock(bench)

    assert [body_of(found) for found in bench.broker.peek(bench.queue(), 1, 2)] == [b"a", b"b"]
    assert [body_of(found) for found in bench.broker.peek(bench.queue(), numbers[1], 9)] == [b"b", b"c"]
    assert bench.broker.counts(bench.queue()).locked == 1


def test_an_unknown_queue_is_refused_and_case_does_not_matter(bench: Bench) -> None:
    assert bench.queue("/Documents/") == bench.queue("documents")
    with pytest.raises(Refused, match="could not be found") as refusal:
        bench.queue("nowhere")
    assert (refusal.value.condition, refusal.value.status) == ("amqp:not-found", 404)


def test_a_batch_is_kept_whole_or_not_at_all(bench: Bench) -> None:
    """The second message breaks the store half way through the batch."""
    good, bad = a_message(b"good", message_id="good"), a_message(b"bad")
    object.__setattr__(bad, "annotations", None)

    with pytest.raises(Exception, match="NOT NULL"):
        bench.broker.send(bench.queue(), [good, bad])

    assert list(bench.broker.peek(bench.queue(), 1, 10)) == []
    assert bench.broker.send(bench.queue(), [good]) == [1]


def test_a_batch_with_one_unreadable_message_is_not_read_at_all() -> None:
    batch = sections.section(sections.DATA, encoded(b"good")) + sections.section(sections.DATA, b"\x01bad")

    with pytest.raises(Malformed):
        read_batch(batch)


BURY = Problem(Symbol("com.microsoft:dead-letter"), "unused", {"DeadLetterReason": "Schema"})


@pytest.mark.parametrize(
    ("outcome", "echo", "left"),
    [
        pytest.param(outcomes.accepted(), outcomes.accepted(), None, id="accepted-completes"),
        pytest.param(
            outcomes.released(), outcomes.released(), (State.ACTIVE, 0), id="released-is-not-counted"
        ),
        pytest.param(None, outcomes.released(), (State.ACTIVE, 0), id="left-open-releases"),
        pytest.param(
            outcomes.modified(Modification()),
            outcomes.modified(Modification()),
            (State.ACTIVE, 1),
            id="modified-abandons-even-without-delivery-failed",
        ),
        pytest.param(
            outcomes.modified(Modification(undeliverable_here=True)),
            outcomes.modified(Modification(undeliverable_here=True)),
            (State.DEFERRED, 0),
            id="undeliverable-here-defers",
        ),
        pytest.param(outcomes.rejected(BURY), outcomes.rejected(), None, id="rejected-dead-letters"),
    ],
)
def test_each_outcome_does_one_thing_and_is_echoed(
    bench: Bench, outcome: Described | None, echo: Described, left: tuple[State, int] | None
) -> None:
    send(bench, b"one")
    delivery = Unsettled(bench.queue(), token_of(lock(bench)))

    assert settle(bench.broker, delivery, outcome) == echo

    found = [(stored.state, stored.delivery_count) for stored in bench.broker.peek(bench.queue(), 1, 10)]
    assert found == ([] if left is None else [left])
    assert bench.broker.counts(bench.queue()).dead_letter == (echo == outcomes.rejected())


def test_settling_what_is_no_longer_known_says_that_the_lock_is_lost(bench: Bench) -> None:
    answer = settle(bench.broker, None, outcomes.accepted())

    assert outcomes.problem_of(answer).condition == "com.microsoft:message-lock-lost"

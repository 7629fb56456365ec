"""What is left after the process died, and who may open its file."""

from datetime import timedelta
from pathlib import Path

import pytest

from local.servicebus.definitions import Queue
from local.servicebus.errors import Refused
from tests.local.servicebus.builders import START, Bench, body_of, lock, send, token_of

QUEUES = {"documents": Queue(lock_duration=timedelta(seconds=30)), "drop": Queue()}


def test_after_a_crash_there_is_what_was_committed_and_locks_still_hold(tmp_path: Path) -> None:
    path = tmp_path / "servicebus.db"
    before = Bench(path, QUEUES)
    send(before, b"locked", b"free")
    held = lock(before)
    before.turn.finish()
    send(before, b"unheard of")
    before.lose_power()

    after = Bench(path, QUEUES, now=START + 10_000)

    assert [body_of(stored) for stored in after.broker.peek(after.queue(), 1, 10)] == [b"locked", b"free"]
    assert body_of(lock(after)) == b"free"
    assert after.broker.lock(after.queue()) is None
    after.pass_time(seconds=20)
    again = lock(after)
    assert (body_of(again), again.delivery_count) == (b"locked", 1)
    with pytest.raises(Refused):
        after.broker.complete(after.queue(), token_of(held))
    after.lose_power()


def test_a_lock_from_before_the_crash_still_completes(tmp_path: Path) -> None:
    path = tmp_path / "servicebus.db"
    before = Bench(path, QUEUES)
    send(before, b"locked")
    held = lock(before)
    before.turn.finish()
    before.lose_power()

    after = Bench(path, QUEUES, now=START + 10_000)
    after.broker.complete(after.queue(), token_of(held))

    assert list(after.broker.peek(after.queue(), 1, 10)) == []
    after.lose_power()


def test_nobody_is_told_of_a_change_before_it_is_on_disk(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "servicebus.db", QUEUES)
    told: list[bool] = []
    send(bench, b"one")
    bench.turn.after_commit(lambda: told.append(bench.database.in_transaction))

    assert told == []
    bench.turn.finish()
    assert told == [False]
    bench.lose_power()


def test_a_second_emulator_on_the_same_folder_is_turned_away(tmp_path: Path) -> None:
    path = tmp_path / "servicebus.db"
    first = Bench(path, QUEUES)
    send(first, b"mine")

    with pytest.raises(Exception, match="locked"):
        Bench(path, QUEUES)
    first.lose_power()


def test_messages_of_a_queue_without_a_definition_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "servicebus.db"
    before = Bench(path, QUEUES)
    send(before, b"one", path="drop")
    before.turn.finish()
    before.lose_power()

    after = Bench(path, {"documents": Queue()})

    with pytest.raises(ValueError, match="without a definition: drop"):
        after.broker.check_definitions()
    after.lose_power()

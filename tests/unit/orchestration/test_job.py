"""The orchestration itself, driven answer by answer."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.adapters.memory.clock import FixedClock
from shared.orchestration.job import EVENTS_PER_HISTORY, run_job
from tests.support.engine import ActivityFailed, Call, Context, Event, FirstOf, Timer

NOW = datetime(2026, 11, 30, tzinfo=UTC)
JOB = {"tenant": "support", "job_id": "job_1", "run": 3}
DONE = {"done": True}


def wait(seconds: float) -> dict[str, Any]:
    return {"done": False, "wait_seconds": seconds}


class Drive:
    """One history. `task` is what it waits for now; `word` its last one."""

    def __init__(self) -> None:
        self.clock = FixedClock(NOW)
        self.context = Context(self.clock)
        self._steps = run_job(self.context, JOB)
        self.word: object = None
        self.task: Any = None
        self._move(lambda: next(self._steps))

    def answer(self, value: object) -> None:
        self._move(lambda: self._steps.send(value))

    def fail(self) -> None:
        self._move(lambda: self._steps.throw(ActivityFailed("boom")))

    def let_the_timer_fire(self) -> timedelta:
        """How long it slept."""
        timer = self.task if isinstance(self.task, Timer) else self.task.tasks[0]
        slept = timer.fire_at - self.clock.now()
        self.clock.advance(slept)
        self.answer(timer)
        return slept

    def wake(self) -> None:
        (event,) = [task for task in self.task.tasks if isinstance(task, Event)]
        self.answer(event)

    def plan(self, *chunks: int) -> None:
        assert self.asked == [("plan_round", None)]
        self.context.calls.clear()
        self.answer({"chunks": list(chunks)})

    def advanced(self, **answers: dict[str, Any]) -> None:
        """Answer the calls of chunks `n0`, `n1`, ... in the order they were made."""
        assert [f"n{n}" for name, n in self.asked if name == "advance_chunk"] == list(answers)
        self.context.calls.clear()
        for value in answers.values():
            self.answer(value)

    @property
    def asked(self) -> list[tuple[str, int | None]]:
        return [(call.activity, call.given.get("n")) for call in self.context.calls]

    def _move(self, move: Callable[[], Any]) -> None:
        try:
            self.task = move()
        except StopIteration as end:
            self.word, self.task = end.value, None


def asleep(drive: Drive) -> bool:
    return isinstance(drive.task, FirstOf)


def test_a_job_without_anything_to_send_is_planned_and_finished() -> None:
    drive = Drive()

    drive.plan()
    assert drive.asked == [("finish_job", None)]
    drive.answer({})

    assert drive.word == "finished"


def test_activities_are_given_the_job_and_nothing_else() -> None:
    drive = Drive()
    assert drive.context.calls[0].given == JOB

    drive.plan(4)

    assert drive.context.calls[0].given == {**JOB, "n": 4}


def test_all_chunks_are_asked_for_before_any_is_waited_for() -> None:
    drive = Drive()

    drive.plan(0, 1, 2)

    assert drive.asked == [("advance_chunk", 0), ("advance_chunk", 1), ("advance_chunk", 2)]
    assert isinstance(drive.task, Call)


def test_it_sleeps_until_the_earliest_is_due_and_asks_for_that_one_alone() -> None:
    drive = Drive()
    drive.plan(0, 1, 2)
    drive.advanced(n0=wait(300), n1=wait(20), n2=DONE)

    assert asleep(drive)
    assert drive.let_the_timer_fire() == timedelta(seconds=20)

    assert drive.asked == [("advance_chunk", 1)]
    drive.advanced(n1=wait(400))
    assert drive.let_the_timer_fire() == timedelta(seconds=280)
    assert drive.asked == [("advance_chunk", 0)]


def test_woken_it_looks_at_every_open_chunk_at_once() -> None:
    drive = Drive()
    drive.plan(0, 1, 2)
    drive.advanced(n0=wait(300), n1=wait(3000), n2=DONE)

    drive.wake()

    assert drive.asked == [("advance_chunk", 0), ("advance_chunk", 1)]


def test_it_can_be_woken_again_and_again() -> None:
    drive = Drive()
    drive.plan(0)

    for _ in range(3):
        drive.advanced(n0=wait(300))
        drive.wake()

    assert drive.asked == [("advance_chunk", 0)]


def test_nobody_asks_twice_for_the_same_event() -> None:
    drive = Drive()
    drive.plan(0)

    for _ in range(5):
        drive.advanced(n0=wait(60))
        drive.let_the_timer_fire()

    assert len(drive.context.events) == 1


def test_done_chunks_lead_to_the_next_round_and_that_to_the_end() -> None:
    drive = Drive()
    drive.plan(0, 1)
    drive.advanced(n0=DONE, n1=DONE)
    drive.plan(2)
    drive.advanced(n2=DONE)
    drive.plan()
    drive.answer({})

    assert drive.word == "finished"


def test_a_step_that_fails_is_tried_again_and_holds_no_other_up() -> None:
    drive = Drive()
    drive.plan(0, 1)
    drive.context.calls.clear()

    drive.fail()
    drive.answer(DONE)

    assert drive.let_the_timer_fire() == timedelta(seconds=30)
    assert drive.asked == [("advance_chunk", 0)]


@pytest.mark.parametrize("activity", ["plan_round", "finish_job"])
def test_planning_or_finishing_that_fails_is_tried_again(activity: str) -> None:
    drive = Drive()
    if activity == "finish_job":
        drive.plan()
    assert drive.asked == [(activity, None)]

    drive.fail()

    assert drive.let_the_timer_fire() == timedelta(seconds=30)
    assert drive.asked[-1][0] == "plan_round"


@pytest.mark.parametrize("activity", ["plan_round", "advance_chunk", "finish_job"])
def test_a_history_in_which_everything_fails_does_not_grow_for_ever(activity: str) -> None:
    drive = Drive()
    steps = 0

    while drive.word is None and steps < 10 * EVENTS_PER_HISTORY:
        steps += 1
        if asleep(drive) or isinstance(drive.task, Timer):
            drive.let_the_timer_fire()
        elif drive.task.activity == activity:
            drive.fail()
        else:
            drive.answer({"chunks": [0] if activity == "advance_chunk" else []})

    assert drive.word == "continued"
    assert drive.context.anew == JOB
    assert drive.context.tasks <= EVENTS_PER_HISTORY


def test_planning_may_ask_to_be_called_again_later() -> None:
    drive = Drive()
    drive.answer({"chunks": [], "wait_seconds": 60})

    assert drive.let_the_timer_fire() == timedelta(seconds=60)
    assert drive.asked[-1] == ("plan_round", None)


def test_finishing_may_ask_to_be_called_again_later() -> None:
    drive = Drive()
    drive.plan()
    drive.answer({"wait_seconds": 60})

    assert drive.let_the_timer_fire() == timedelta(seconds=60)
    assert drive.word is None


@pytest.mark.parametrize("at", ["plan_round", "advance_chunk", "finish_job"])
def test_an_orchestration_that_was_replaced_stops_without_a_word(at: str) -> None:
    drive = Drive()
    if at == "advance_chunk":
        drive.plan(0, 1)
        drive.answer(wait(1))
    elif at == "finish_job":
        drive.plan()

    drive.answer({"superseded": True})

    assert drive.word == "superseded"
    assert drive.context.anew is None


@pytest.mark.parametrize("chunks", [1, 10, 49, 50, 200])
def test_a_long_poll_begins_a_new_history_and_never_without_having_slept(chunks: int) -> None:
    drive = Drive()
    drive.plan(*range(chunks))
    polls = 0.0
    slept = False

    while drive.word is None:
        assert polls < 100, "the history grows for ever"
        if asleep(drive):
            assert drive.let_the_timer_fire() == timedelta(seconds=300)
            slept = True
        else:
            drive.answer(wait(300))
            polls, slept = polls + 1 / chunks, False

    assert drive.word == "continued"
    assert drive.context.anew == JOB
    assert slept
    assert drive.context.tasks <= max(EVENTS_PER_HISTORY, chunks + 2)


def test_a_wait_of_nothing_is_still_a_pause() -> None:
    drive = Drive()
    drive.plan(0)
    drive.advanced(n0=wait(0))

    assert drive.let_the_timer_fire() == timedelta(milliseconds=100)

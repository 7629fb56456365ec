"""What the orchestration does with one history, letter for letter.

A history that one version has begun is replayed by the next. When a line changes here, raise `FLOW` in
`shared/domain/pulses.py` and `defaultVersion` in host.json, and write the new lines under the new number.
"""

from shared.domain.pulses import FLOW
from tests.support.engine import Call, FirstOf, Timer
from tests.unit.orchestration.test_job import DONE, JOB, Drive, wait

# Two chunks; one step fails, one waits; a further round; finishing waits once; somebody wakes it on the way.
FLOWS = {
    1: [
        "plan_round",
        "advance_chunk 0",
        "advance_chunk 1",
        "sleep 20 or wake",
        "advance_chunk 0",
        "sleep 10 or wake",
        "advance_chunk 1",
        "plan_round",
        "sleep 60 or wake",
        "plan_round",
        "advance_chunk 2",
        "plan_round",
        "finish_job",
        "sleep 5 or wake",
        "plan_round",
        "finish_job",
        "finished",
    ]
}


class Recorded(Drive):
    """Keeps what the orchestration asks for, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        super().__init__()

    def note(self) -> None:
        self.lines += self._asked_now()

    def _asked_now(self) -> list[str]:
        if self.word is not None:
            return [str(self.word)]
        if isinstance(self.task, FirstOf):
            timer, _ = self.task.tasks
            assert isinstance(timer, Timer)
            return [f"sleep {(timer.fire_at - self.clock.now()).total_seconds():g} or wake"]
        calls, self.context.calls[:] = list(self.context.calls), []
        return [_line(call) for call in calls]


def _line(task: Call) -> str:
    assert {name: task.given[name] for name in JOB} == JOB
    return f"{task.activity} {task.given['n']}" if "n" in task.given else task.activity


def test_a_history_is_replayed_as_it_was_begun() -> None:
    drive = Recorded()
    drive.note()
    drive.answer({"chunks": [0, 1]})
    drive.note()
    drive.answer(wait(20))
    drive.fail()
    drive.note()
    drive.let_the_timer_fire()
    drive.note()
    drive.answer(DONE)
    drive.note()
    drive.let_the_timer_fire()
    drive.note()
    drive.answer(DONE)
    drive.note()
    drive.answer({"wait_seconds": 60})
    drive.note()
    drive.wake()
    drive.note()
    drive.answer({"chunks": [2]})
    drive.note()
    drive.answer(DONE)
    drive.note()
    drive.answer({"chunks": []})
    drive.note()
    drive.answer({"wait_seconds": 5})
    drive.note()
    drive.let_the_timer_fire()
    drive.note()
    drive.answer({"chunks": []})
    drive.note()
    drive.answer({})
    drive.note()

    assert drive.lines == FLOWS[FLOW]

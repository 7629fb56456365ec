"""Drive one job to its end. Deterministic: no clock, settings, logging or I/O but through `ctx`.

1. Plan a round: what has to be sent becomes chunks.
2. Advance every open chunk that is due, side by side, until all are done; sleep in between.
3. Back to 1, until nothing has to be sent any more.
4. Finish: results, report, event.

The records are the truth. Started again at any point, it reads there what is left to do.
"""

from collections.abc import Generator
from datetime import timedelta
from typing import Any, Final

from shared.orchestration.context import Awaited, DurableContext

PLAN_ROUND: Final = "plan_round"
ADVANCE_CHUNK: Final = "advance_chunk"
FINISH_JOB: Final = "finish_job"
WAKE: Final = "wake"

# Replay costs the square of the history's length: begin a new one early.
EVENTS_PER_HISTORY: Final = 150
AFTER_FAILURE: Final = timedelta(seconds=30)
SHORTEST_SLEEP: Final = timedelta(milliseconds=100)

FINISHED: Final = "finished"
SUPERSEDED: Final = "superseded"
CONTINUED: Final = "continued"

Answer = dict[str, Any]
Steps = Generator[Awaited, Any, Any]


def run_job(ctx: DurableContext, job: Answer) -> Steps:
    """`job` holds `tenant`, `job_id` and `run`: all that is ever in the history besides chunk numbers.

    Its last word is `finished`, `superseded` (another run drives the job) or `continued` in a new history.
    """
    return (yield from _Run(ctx, job).to_the_end())


class _Run:
    def __init__(self, ctx: DurableContext, job: Answer) -> None:
        self._ctx = ctx
        self._job = job
        self._events = 0
        # One for the whole history: an event goes to whoever asked first, and nobody may ask twice.
        self._wake = ctx.event(WAKE)

    def to_the_end(self) -> Steps:
        while True:
            planned = yield from self._do(PLAN_ROUND)
            if planned.get(SUPERSEDED):
                return SUPERSEDED
            if chunks := planned.get("chunks"):
                last_word = yield from self._advance_all(chunks)
                if last_word:
                    return last_word
            elif wait := planned.get("wait_seconds"):
                yield from self._sleep(timedelta(seconds=wait))
            else:
                finished = yield from self._do(FINISH_JOB)
                if not finished.get("wait_seconds"):
                    return SUPERSEDED if finished.get(SUPERSEDED) else FINISHED
                yield from self._sleep(timedelta(seconds=finished["wait_seconds"]))
            if self._events > EVENTS_PER_HISTORY:
                return self._begin_anew()

    def _advance_all(self, chunks: list[int]) -> Steps:
        """Until every chunk is done (None), or there is a reason to stop."""
        due = dict.fromkeys(chunks, self._ctx.now)
        while due:
            answers = yield from self._advance([n for n, at in due.items() if at <= self._ctx.now])
            for n, answer in answers.items():
                if answer.get(SUPERSEDED):
                    return SUPERSEDED
                if answer.get("done"):
                    del due[n]
                else:
                    due[n] = self._ctx.now + timedelta(seconds=answer["wait_seconds"])
            if due:
                woken = yield from self._sleep(min(due.values()) - self._ctx.now)
                # Only after the sleep: a new history looks at every chunk at once.
                if self._events > EVENTS_PER_HISTORY:
                    return self._begin_anew()
                if woken:
                    due = dict.fromkeys(due, self._ctx.now)
        return None

    def _advance(self, chunks: list[int]) -> Steps:
        """One step of each chunk, side by side. A step that fails is tried again later; it ends nothing."""
        tasks = [self._ctx.call(ADVANCE_CHUNK, {**self._job, "n": n}) for n in chunks]
        self._events += 3 * len(tasks) + 1
        answers: dict[int, Answer] = {}
        for n, task in zip(chunks, tasks, strict=True):
            try:
                answers[n] = yield task
            except Exception:  # noqa: BLE001  # the activity has logged it, and the job must go on
                answers[n] = {"wait_seconds": AFTER_FAILURE.total_seconds()}
        return answers

    def _do(self, activity: str) -> Steps:
        self._events += 3
        try:
            return (yield self._ctx.call(activity, self._job))
        except Exception:  # noqa: BLE001  # as above
            return {"wait_seconds": AFTER_FAILURE.total_seconds()}

    def _sleep(self, wait: timedelta) -> Steps:
        """Wait that long, or until somebody wakes us. True: woken."""
        self._events += 4
        timer = self._ctx.timer(self._ctx.now + max(wait, SHORTEST_SLEEP))
        first = yield self._ctx.first_of([timer, self._wake])
        if first is not self._wake:
            return False
        self._wake = self._ctx.event(WAKE)
        return True

    def _begin_anew(self) -> str:
        self._ctx.begin_anew(self._job)
        return CONTINUED

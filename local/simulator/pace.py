"""How far a batch may be by now, and when it is over. Pure: from facts to a number or an ending."""

from dataclasses import dataclass

from local.simulator.batches import Batch, Script, Status

# The shortest and the longest a batch sleeps between looks at the clock.
SOONEST, LATEST = 0.01, 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """`rows`: lines that may be done now. `ending`: decided, once those are done. `wait`: until more may."""

    rows: int
    ending: Status | None
    wait: float


def pace(batch: Batch, *, now: float, expires: bool) -> Pace:
    """What the script, or its absence, lets the batch do at this moment."""
    if expires and now >= batch.expires_at:
        return Pace(rows=batch.position, ending=Status.EXPIRED, wait=0)
    script = batch.script or Script(ending=Status.COMPLETED)
    elapsed = now - batch.created_at
    if script.ending == "stuck":
        return _stuck(batch, script, elapsed)
    wanted = rows_wanted(batch.total, script)
    due = min(1.0, elapsed / script.after_seconds) if script.after_seconds else 1.0
    rows = int(wanted * due)
    if due >= 1.0:
        return Pace(rows=wanted, ending=Status(script.ending), wait=0)
    next_row = script.after_seconds * min(1.0, (rows + 1) / max(wanted, 1))
    return Pace(rows=rows, ending=None, wait=_bounded(next_row - elapsed))


def _stuck(batch: Batch, script: Script, elapsed: float) -> Pace:
    is_over = script.after_seconds and elapsed >= script.after_seconds
    if is_over or script.state == Status.FINALIZING:
        return Pace(rows=batch.total, ending=Status.COMPLETED, wait=0)
    rows = 0 if script.rows is None else rows_wanted(batch.total, script)
    wait = _bounded(script.after_seconds - elapsed) if script.after_seconds else LATEST
    return Pace(rows=rows, ending=None, wait=wait)


def rows_wanted(total: int, script: Script) -> int:
    """How many lines are answered before the ending; half of them where the rule does not say."""
    if script.ending == Status.COMPLETED:
        return total
    if script.rows is None:
        return total // 2
    if isinstance(script.rows, float):
        return int(total * script.rows)
    return min(script.rows, total)


def _bounded(seconds: float) -> float:
    return min(max(seconds, SOONEST), LATEST)

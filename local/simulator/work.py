"""One slice of a batch's work: some lines in, their rows out. Runs in a thread and touches no database."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from local.simulator import play
from local.simulator.answers.replies import Failure, Reply, Unrun, Usage
from local.simulator.dialects.port import BatchDialect, Line, RowNames
from local.simulator.lines import LineIndex, LineReader, reading
from local.simulator.rulebook import Entry, RuleBook, Taken, fits_request
from local.simulator.rules import Kind

SLICE_SECONDS = 0.04
SLICE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What stays the same for all slices of one batch. `order`: places of lines as they are worked on.

    `model` answers where the lines themselves name none.
    """

    batch_id: str
    dialect: BatchDialect
    endpoint: str
    model: str | None
    input_path: Path
    output_path: Path
    error_path: Path
    lines: LineIndex
    order: Sequence[int]

    def read(self, reader: LineReader, place: int) -> Line:
        line = self.dialect.read_line(reader.read(place), self.endpoint)
        return line if line.model else replace(line, model=self.model or "")


@dataclass(slots=True, kw_only=True)
class Slice:
    """What a slice did: to be committed as a whole, or forgotten as a whole.

    `tail` is a row that has to be the last thing in the output file.
    """

    position: int
    completed: int = 0
    failed: int = 0
    lapsed: int = 0
    usage: Usage = field(default_factory=Usage)
    uses: Counter[int] = field(default_factory=Counter)
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    tail: bytes = b""

    @property
    def is_full(self) -> bool:
        return len(self.output) + len(self.errors) > SLICE_BYTES


def answer(desk: Desk, rules: RuleBook, *, position: int, until: int, now: int) -> Slice:
    """Answer lines until a twenty-fifth of a second is over."""
    done = Slice(position=position)
    entries = rules.of_kind(Kind.REQUEST)
    deadline = time.monotonic() + SLICE_SECONDS
    with reading(desk.input_path, desk.lines) as reader:
        while done.position < until and not done.is_full and time.monotonic() < deadline:
            place = desk.order[done.position]
            line = desk.read(reader, place)
            taken = _rule_for(line, entries, rules, desk.dialect.name)
            _answer_line(desk, done, line, taken, names_of(desk.batch_id, place, now))
            done.position += 1
    return done


def names_of(batch_id: str, place: int, now: int) -> RowNames:
    name = blake2b(f"{batch_id}/{place}".encode(), digest_size=16).hexdigest()
    return RowNames(row=f"batch_req_{name}", request=name, created=now)


def _rule_for(line: Line, entries: list[Entry], rules: RuleBook, provider: str) -> Taken | None:
    if not entries:
        return None
    text = line.question.everything
    for entry in entries:
        if fits_request(
            entry.rule.match,
            provider=provider,
            operation="create",
            model=line.model,
            custom_id=line.custom_id,
            text=text,
        ) and (taken := rules.take(entry)):
            return taken
    return None


def _answer_line(desk: Desk, done: Slice, line: Line, taken: Taken | None, names: RowNames) -> None:
    act = taken.then if taken else None
    if taken:
        done.uses[taken.rule_id] += 1
    verdict = play.verdict(line, act, filter_is_error=desk.dialect.filter_is_error)
    written = play.written(desk.dialect.row(line, names, verdict, desk.endpoint), act)
    match verdict:
        case Reply():
            done.completed += 1
            done.usage += verdict.usage
        case Failure():
            done.failed += 1
        case Unrun():
            done.lapsed += 1
    is_apart = not isinstance(verdict, Reply) and desk.dialect.errors_apart
    if act and act.shape == "last_line" and not is_apart:
        done.tail = written.rstrip(b"\n")
    else:
        (done.errors if is_apart else done.output).extend(written)


def leave(desk: Desk, *, position: int, why: str) -> Slice:
    """Say of the remaining lines that they were never run, as far as the provider says so."""
    total = len(desk.lines)
    done = Slice(position=position)
    if why == "cancelled" and not desk.dialect.writes_cancelled_rows:
        done.position = total
        return done
    deadline = time.monotonic() + SLICE_SECONDS
    with reading(desk.input_path, desk.lines) as reader:
        while done.position < total and time.monotonic() < deadline:
            place = desk.order[done.position]
            line = desk.read(reader, place)
            row = desk.dialect.row(line, names_of(desk.batch_id, place, 0), Unrun(why=why), desk.endpoint)
            (done.errors if desk.dialect.errors_apart else done.output).extend(play.written(row, None))
            done.position += 1
    return done


def write(path: Path, committed: int, rows: bytes | bytearray) -> int:
    """Put rows behind what is committed, over anything a dead process left there. Returns the new length."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(committed)
        file.seek(committed)
        file.write(rows)
    return committed + len(rows)

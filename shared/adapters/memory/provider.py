"""A batch provider in memory, on a clock that tests move. It can be as unkind as real ones are.

It asserts what a real one cannot: that no chunk key is ever created twice.
"""

import json
import random
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from shared.adapters.memory.provider_rows import Author, Fate, Line, alien_row
from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import Ambiguous, NoCapacity, NotFound, PosternError, TryAgainLater, Unknowable
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.objections import FindObjection, Objection
from shared.domain.planning import Limits
from shared.domain.rows import Row
from shared.domain.usage import Usage
from shared.ports.clock import Clock
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState, StagedFile, Traits

INPUT_KEPT = timedelta(days=14)
OUTPUT_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How one batch goes. `done`: how many requests ran before it ended; None: all.

    `code` is told when it fails; `token_limit_exceeded` means that the queue was full and nothing ran.
    """

    end: BatchEnd = BatchEnd.COMPLETED
    done: int | None = None
    code: str | None = None


@dataclass(slots=True)
class Habits:
    """What every batch meets, until a test changes it. Texts are looked for in the request's body."""

    fates: dict[str, Fate] = field(default_factory=dict)
    answer: Callable[[str], str] = lambda prompt: f"answer {len(prompt)}"
    runs_for: timedelta = timedelta(0)
    stuck: bool = False
    shuffle: bool = False
    aliens: int = 0
    listing_lag: timedelta = timedelta(0)
    window: timedelta = timedelta(hours=24)
    pending_reads: int = 0
    no_file_expiry: bool = False
    # Batches say nothing of whose they are.
    keyless: bool = False
    # What a running batch tells of itself.
    raw_state: str = "in_progress"
    recognised: bool = True
    completed: int | None = None
    objection: FindObjection = lambda endpoint, body: None

    def fate(self, prompt: str) -> Fate:
        return next((fate for text, fate in self.fates.items() if text in prompt), Fate.SUCCESS)


@dataclass(slots=True)
class _File:
    content: bytes
    expires_at: datetime | None
    pending_reads: int = 0


@dataclass(slots=True)
class _Batch:
    id: BatchId
    key: ChunkKey | None
    input_file: FileId
    endpoint: Endpoint
    created_at: datetime
    course: Course
    requests: list[Line]
    cancelled: bool = False
    ended: RemoteBatch | None = None


class MemoryProvider:
    """`read_row` is a dialect's reader of OpenAI-shaped lines: adapters do not know each other.

    `habits` may be changed at any time; `courses` are taken one a batch, in order of creation. The next
    `lost_create_answers` creates have their effect and no answer. `created` are the keys in that order.
    """

    def __init__(
        self, *, clock: Clock, read_row: Callable[[Endpoint, bytes], Row], limits: Limits | None = None
    ) -> None:
        self.habits = Habits()
        self.courses: deque[Course] = deque()
        self.lost_create_answers = 0
        self.created: list[ChunkKey] = []
        self.calls: list[str] = []
        self._faults: dict[str, deque[PosternError]] = {}
        self._clock = clock
        self._read_row = read_row
        self._limits = limits or Limits(requests=100_000, bytes=200_000_000, line_bytes=200_000_000)
        self._files: dict[FileId, _File] = {}
        self._batches: dict[BatchId, _Batch] = {}
        self._numbers = count(1)

    @property
    def traits(self) -> Traits:
        return Traits(
            limits=self._limits,
            endpoints=frozenset(Endpoint),
            listing_lag=self.habits.listing_lag,
            find_is_exact=not self.habits.keyless,
            window=self.habits.window,
        )

    @property
    def file_ids(self) -> list[FileId]:
        """Every file that is still there."""
        return [file for file in self._files if self._get(file) is not None]

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        return self.habits.objection(endpoint, body)

    def write_line(self, key: RequestKey, endpoint: Endpoint, body: Mapping[str, object]) -> bytes:
        line = {"custom_id": key, "method": "POST", "url": endpoint.url, "body": {**body, "model": "memory"}}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def read_row(self, endpoint: Endpoint, line: bytes) -> Row:
        return self._read_row(endpoint, line)

    async def stage(self, chunk: ChunkInput) -> StagedFile:
        self._fault("stage")
        content = b"".join([piece async for piece in chunk.open_lines()])
        assert len(content) == chunk.size, f"{chunk.key}: {len(content)} bytes, announced were {chunk.size}"
        assert content.count(b"\n") == chunk.requests, (
            f"{chunk.key}: announced were {chunk.requests} requests"
        )
        return self._stored(content, kept=INPUT_KEPT, pending_reads=self.habits.pending_reads)

    async def staged(self, file: FileId) -> StagedFile:
        self._fault("staged")
        found = self._present(file)
        ready = found.pending_reads == 0
        found.pending_reads = max(found.pending_reads - 1, 0)
        return StagedFile(id=file, ready=ready, expires_at=found.expires_at)

    async def find(self, chunk: ChunkInput, *, since: datetime) -> RemoteBatch | None:
        self._fault("find")
        key = chunk.key
        seen = self._clock.now() - self.habits.listing_lag
        found = [batch for batch in self._batches.values() if batch.created_at <= seen]
        recent = [batch for batch in found if batch.created_at >= since - timedelta(minutes=10)]
        recent = [batch for batch in recent if await self._is_likely(batch, chunk)]
        if len(recent) > 1:
            raise Ambiguous(f"{len(recent)} batches could be that of {key!r}")
        return self._view(recent[0]) if recent else None

    async def _is_likely(self, batch: _Batch, chunk: ChunkInput) -> bool:
        """By its key; without one by its size, and once it has ended by the requests it answered."""
        if not self.habits.keyless:
            return batch.key == chunk.key
        if len(batch.requests) != chunk.requests or await chunk.is_taken(batch.id):
            return False
        if self._view(batch).state is RemoteState.RUNNING:
            return True
        return batch.requests == _lines_of(b"".join([piece async for piece in chunk.open_lines()]))

    async def create(self, chunk: ChunkInput, file: FileId) -> RemoteBatch:
        self._fault("create")
        key = chunk.key
        if self._present(file).pending_reads:
            raise TryAgainLater(f"file {file!r} is not ready")
        assert key not in self.created, f"double create of {key}: its requests would be billed twice"
        batch = self._new_batch(key, file, chunk.endpoint)
        if self.lost_create_answers:
            self.lost_create_answers -= 1
            raise Unknowable(f"no answer to the create of {key!r}")
        return self._view(batch)

    async def retrieve(self, batch: BatchId) -> RemoteBatch:
        self._fault("retrieve")
        return self._view(self._batch(batch))

    async def cancel(self, batch: BatchId) -> None:
        self._fault("cancel")
        if self._view(self._batch(batch)).state is RemoteState.RUNNING:
            self._batch(batch).cancelled = True

    async def download(self, file: FileId) -> AsyncIterator[bytes]:
        self._fault("download")
        content = self._present(file).content
        for start in range(0, len(content), 1000):
            yield content[start : start + 1000]

    async def expiry(self, file: FileId) -> datetime | None:
        self._fault("expiry")
        return self._present(file).expires_at

    async def delete_file(self, file: FileId) -> None:
        self._fault("delete_file")
        self._files.pop(file, None)

    async def batches(self, *, since: datetime) -> AsyncIterator[RemoteBatch]:
        self._fault("batches")
        for batch in reversed(self._batches.values()):
            if batch.created_at >= since:
                yield self._view(batch)

    def fail(self, verb: str, *errors: PosternError) -> None:
        """Raise these from the next calls of that verb, one each, before it has any effect."""
        self._faults.setdefault(verb, deque()).extend(errors)

    def open_side_door(self, file: FileId) -> BatchId:
        """A batch that somebody else created on the same deployment."""
        return self._new_batch(None, file, Endpoint.CHAT).id

    def _fault(self, verb: str) -> None:
        self.calls.append(verb)
        if self._faults.get(verb):
            raise self._faults[verb].popleft()

    def _stored(self, content: bytes, *, kept: timedelta, pending_reads: int = 0) -> StagedFile:
        file = FileId(f"file-{next(self._numbers)}")
        expires_at = None if self.habits.no_file_expiry else self._clock.now() + kept
        self._files[file] = _File(content, expires_at, pending_reads)
        return StagedFile(id=file, ready=pending_reads == 0, expires_at=expires_at)

    def _get(self, file: FileId) -> _File | None:
        found = self._files.get(file)
        lapsed = found and found.expires_at and found.expires_at <= self._clock.now()
        return None if lapsed else found

    def _present(self, file: FileId) -> _File:
        found = self._get(file)
        if found is None:
            raise NotFound(f"file {file!r} is gone")
        return found

    def _batch(self, batch: BatchId) -> _Batch:
        if batch not in self._batches:
            raise NotFound(f"there is no batch {batch!r}")
        return self._batches[batch]

    def _new_batch(self, key: ChunkKey | None, file: FileId, endpoint: Endpoint) -> _Batch:
        course = self.courses.popleft() if self.courses else Course()
        if course == REFUSED_AT_THE_DOOR:
            raise NoCapacity(f"the queue is full for {key!r}")
        batch = _Batch(
            id=BatchId(f"batch_{next(self._numbers)}"),
            key=key,
            input_file=file,
            endpoint=endpoint,
            created_at=self._clock.now(),
            course=course,
            requests=_lines_of(self._present(file).content),
        )
        self._batches[batch.id] = batch
        if key is not None:
            self.created.append(key)
        return batch

    def _view(self, batch: _Batch) -> RemoteBatch:
        if batch.ended is None and self._is_over(batch):
            batch.ended = self._ended(batch)
        return batch.ended or RemoteBatch(
            id=batch.id,
            key=self._shown_key(batch),
            state=RemoteState.RUNNING,
            raw_state="cancelling" if batch.cancelled else self.habits.raw_state,
            created_at=batch.created_at,
            recognised=self.habits.recognised,
            input_file=batch.input_file,
            requests=len(batch.requests),
            completed=self.habits.completed,
            expires_at=batch.created_at + self.traits.window,
        )

    def _shown_key(self, batch: _Batch) -> ChunkKey | None:
        return None if self.habits.keyless else batch.key

    def _is_over(self, batch: _Batch) -> bool:
        if batch.cancelled:
            return True
        return not self.habits.stuck and self._clock.now() >= batch.created_at + self.habits.runs_for

    def _ended(self, batch: _Batch) -> RemoteBatch:
        course = batch.course
        if batch.cancelled:
            course = Course(end=BatchEnd.CANCELLED, done=course.done or 0)
        ended = RemoteBatch(
            id=batch.id,
            key=self._shown_key(batch),
            state=RemoteState.ENDED,
            raw_state=course.end.value,
            created_at=batch.created_at,
            end=course.end,
            out_of_capacity=course.code == "token_limit_exceeded",
            code=course.code,
            input_file=batch.input_file,
            requests=len(batch.requests),
            expires_at=batch.created_at + self.traits.window,
        )
        return ended if course.end is BatchEnd.FAILED else self._with_results(ended, batch, course)

    def _with_results(self, ended: RemoteBatch, batch: _Batch, course: Course) -> RemoteBatch:
        author = Author(endpoint=batch.endpoint, fate=self.habits.fate, answer=self.habits.answer)
        results = author.write(self._lines(batch), end=course.end, done=course.done)
        output = results.output + [alien_row()] * self.habits.aliens
        if self.habits.shuffle:
            random.Random(batch.id).shuffle(output)  # noqa: S311 - repeatable disorder, no secret
        return replace(
            ended,
            output_file=self._result_file(output, empty=results.completed > 0),
            error_file=self._result_file(results.errors),
            completed=results.completed,
            failed=results.failed,
            usage=Usage(uncached_input=results.input_tokens, output=results.output_tokens),
        )

    def _lines(self, batch: _Batch) -> list[Line]:
        return _lines_of(self._present(batch.input_file).content)

    def _result_file(self, lines: list[bytes], *, empty: bool = False) -> FileId | None:
        """None for one without lines, unless it may be `empty`."""
        return self._stored(b"".join(lines), kept=OUTPUT_KEPT).id if lines or empty else None


def _lines_of(content: bytes) -> list[Line]:
    return [json.loads(line) for line in content.split(b"\n") if line]


# Take this course to have a create refused: the queue is full, and nothing is created.
REFUSED_AT_THE_DOOR = Course(end=BatchEnd.FAILED, code="refused_at_the_door")

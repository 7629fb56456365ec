"""Batches that we run ourselves, line by line: who may ask, and what is asked again after a crash."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.providers.openai.lines import read_row, write_line
from shared.adapters.providers.self_run.batches import SelfRunBatches, is_own
from shared.adapters.providers.self_run.pace import Turnstile
from shared.adapters.providers.self_run.slice import Terms
from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotAdmitted, NotFound, RateLimited, TryAgainLater
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.rows import RowKind
from shared.domain.waits import Backoff
from shared.ports.blobs import Blobs
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState
from tests.support.chunks import chunk_input
from tests.support.power import Mains, PowerCut, PoweredBlobs

KEY = ChunkKey("job_1-0-1-1")
BATCH = BatchId(KEY)
WINDOW = timedelta(hours=24)
QUICK = Backoff(first=timedelta(milliseconds=1), longest=timedelta(milliseconds=1))
TERMS = Terms(max_line_bytes=10_000)


@dataclass
class StoppedClock:
    time: datetime = datetime(2026, 11, 30, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@dataclass
class Server:
    """Answers every question, unless a test has put something in its way."""

    asked: list[str] = field(default_factory=list)
    in_the_way: Callable[[str], Awaitable[object]] | None = None

    async def ask(self, endpoint: Endpoint, body: dict[str, object]) -> httpx2.Response:
        text = json.loads(json.dumps(body))["messages"][0]["content"]
        self.asked.append(text)
        if self.in_the_way is not None:
            await self.in_the_way(text)
        message = {"role": "assistant", "content": f"re: {text}"}
        return httpx2.Response(200, json={"choices": [{"message": message, "finish_reason": "stop"}]})


@dataclass
class Bench:
    clock: StoppedClock = field(default_factory=StoppedClock)
    server: Server = field(default_factory=Server)

    def __post_init__(self) -> None:
        self.blobs = MemoryBlobs(self.clock)

    def worker(self, terms: Terms = TERMS, *, ceiling: int = 4, blobs: Blobs | None = None) -> SelfRunBatches:
        """One process; all of them share the storage."""
        return SelfRunBatches(
            blobs=blobs or self.blobs,
            ask=self.server.ask,
            clock=self.clock,
            turnstile=Turnstile(self.clock, ceiling=ceiling, faults=QUICK),
            terms=terms,
            window=WINDOW,
        )

    async def created(self, count: int) -> ChunkInput:
        lines = [
            write_line(
                RequestKey(f"r-{n}"),
                url=Endpoint.CHAT.url,
                model="m",
                body={"messages": [{"role": "user", "content": f"q{n}"}]},
            )
            for n in range(count)
        ]
        chunk = chunk_input(KEY, b"".join(lines))
        await self.blobs.write(chunk.path, chunk.open_lines())
        await self.worker().create(chunk)
        return chunk

    async def renewal(self) -> None:
        """Wait until the record has been written once more."""
        path = f"jobs/_batches/{KEY}/state.json"
        before = await self.blobs.head(path)
        async with asyncio.timeout(30):
            while await self.blobs.head(path) == before:  # noqa: ASYNC110
                await asyncio.sleep(0.001)

    async def rows(self, file: FileId | None) -> dict[str, RowKind]:
        assert file is not None
        content = b"".join([piece async for piece in self.worker().download(file)])
        read = [read_row(Endpoint.CHAT, line) for line in content.split(b"\n") if line]
        assert len({row.key for row in read}) == len(read)
        return {row.key or "": row.kind for row in read}


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def looked_at(bench: Bench, terms: Terms = TERMS) -> RemoteBatch:
    return await bench.worker(terms).retrieve(BATCH)


async def test_everything_is_asked_once_and_answered_in_order(bench: Bench) -> None:
    await bench.created(30)

    ended = await looked_at(bench)

    assert (ended.end, ended.completed, ended.failed) == (BatchEnd.COMPLETED, 30, 0)
    assert sorted(bench.server.asked) == sorted(f"q{n}" for n in range(30))
    assert list(await bench.rows(ended.output_file)) == [f"r-{n}" for n in range(30)]
    await looked_at(bench)
    assert len(bench.server.asked) == 30


async def test_a_second_create_is_the_first_batch(bench: Bench) -> None:
    chunk = await bench.created(3)
    await looked_at(bench)

    again = await bench.worker().create(chunk)

    assert again.end is BatchEnd.COMPLETED
    assert len(bench.server.asked) == 3


@pytest.mark.parametrize("cut", range(2, 14))
async def test_after_a_crash_only_the_calls_that_were_in_flight_are_repeated(bench: Bench, cut: int) -> None:
    """The power goes before the worker's effect of that number: a lease, a row, or the end of its slice."""
    await bench.created(12)
    worker = bench.worker(ceiling=4, blobs=PoweredBlobs(bench.blobs, Mains(cut_before=cut)))
    with pytest.raises(PowerCut):
        await worker.retrieve(BATCH)
    written = await questions_with_rows(bench)
    asked, bench.server.asked = bench.server.asked, []
    assert (await looked_at(bench)).state is RemoteState.RUNNING
    assert bench.server.asked == []
    bench.clock.time += TERMS.lease

    ended = await looked_at(bench)

    assert ended.end is BatchEnd.COMPLETED
    assert list(await bench.rows(ended.output_file)) == [f"r-{n}" for n in range(12)]
    repeated = set(asked) & set(bench.server.asked)
    assert len(repeated) <= 4
    assert not repeated & written


async def questions_with_rows(bench: Bench) -> set[str]:
    folder = f"jobs/_batches/{KEY}/rows/"
    names = [info.path.removeprefix(folder) async for info in bench.blobs.list(folder)]
    return {f"q{int(name.split('.')[0])}" for name in names}


async def test_who_looks_while_another_works_asks_nothing(bench: Bench) -> None:
    await bench.created(3)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(text: str) -> None:
        begun.set()
        await go_on.wait()

    bench.server.in_the_way = wait
    first = asyncio.create_task(looked_at(bench))
    await begun.wait()
    asked = len(bench.server.asked)

    seen = await looked_at(bench)

    assert (seen.state, len(bench.server.asked)) == (RemoteState.RUNNING, asked)
    assert seen.again_in is not None
    assert seen.again_in > timedelta(0)
    go_on.set()
    assert (await first).end is BatchEnd.COMPLETED
    assert len(bench.server.asked) == 3


async def test_several_who_look_at_the_same_moment_ask_everything_once(bench: Bench) -> None:
    await bench.created(12)

    await asyncio.gather(*(looked_at(bench) for _ in range(5)))

    assert sorted(bench.server.asked) == sorted(f"q{n}" for n in range(12))


async def test_a_lease_that_ran_out_lets_no_further_call_begin(bench: Bench) -> None:
    """The process was stopped for minutes and wakes up: somebody else works by now."""
    await bench.created(10)

    async def sleep_through_the_lease(text: str) -> None:
        bench.clock.time += timedelta(minutes=5)

    bench.server.in_the_way = sleep_through_the_lease
    worker = bench.worker(ceiling=1)

    seen = await worker.retrieve(BATCH)

    assert seen.state is RemoteState.RUNNING
    assert len(bench.server.asked) == 1
    assert seen.completed == 1


async def test_what_is_taken_over_is_not_written_over(bench: Bench) -> None:
    await bench.created(4)
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def wait(text: str) -> None:
        begun.set()
        await go_on.wait()

    bench.server.in_the_way = wait
    slow = asyncio.create_task(bench.worker(ceiling=1).retrieve(BATCH))
    await begun.wait()
    bench.clock.time += timedelta(minutes=5)
    bench.server.in_the_way = None
    ended = await looked_at(bench)

    go_on.set()
    late = await slow

    assert ended.end is late.end is BatchEnd.COMPLETED
    assert len(bench.server.asked) == 5
    assert len(await bench.rows(ended.output_file)) == 4


async def test_a_slice_ends_and_the_next_one_goes_on(bench: Bench) -> None:
    await bench.created(5)
    none = Terms(max_line_bytes=10_000, slice=timedelta(0))

    seen = await looked_at(bench, none)

    assert (seen.state, seen.completed, seen.again_in) == (RemoteState.RUNNING, 0, timedelta(0))
    assert (await looked_at(bench)).end is BatchEnd.COMPLETED


async def test_a_busy_server_is_left_alone_as_long_as_it_asks(bench: Bench) -> None:
    await bench.created(5)

    async def busy(text: str) -> None:
        raise RateLimited("busy", retry_after=timedelta(minutes=10))

    bench.server.in_the_way = busy
    worker = bench.worker(ceiling=2)

    seen = await worker.retrieve(BATCH)
    asked = len(bench.server.asked)
    again = await worker.retrieve(BATCH)

    assert seen.again_in is not None
    assert seen.again_in > timedelta(minutes=9)
    assert again.state is RemoteState.RUNNING
    assert len(bench.server.asked) == asked <= 2
    bench.server.in_the_way = None
    assert (await looked_at(bench)).completed == 5


async def test_a_request_at_which_the_server_always_fails_does_not_hold_up_the_others(bench: Bench) -> None:
    await bench.created(6)

    async def fail(text: str) -> None:
        if text == "q2":
            raise TryAgainLater("500")

    bench.server.in_the_way = fail

    ended = await looked_at(bench)

    rows = await bench.rows(ended.output_file)
    assert (ended.end, ended.completed, ended.failed) == (BatchEnd.COMPLETED, 5, 1)
    assert rows.pop("r-2") is RowKind.ERROR
    assert set(rows.values()) == {RowKind.ANSWER}
    assert bench.server.asked.count("q2") == 5


async def test_what_was_under_way_when_a_slice_broke_off_is_kept(bench: Bench) -> None:
    """A gateway that forbids one question costs no other's answer."""
    await bench.created(4)
    all_asked, go_on = asyncio.Event(), asyncio.Event()

    async def forbid_one(text: str) -> None:
        if len(bench.server.asked) == 4:
            all_asked.set()
        await all_asked.wait()
        if text == "q1":
            raise NotAdmitted("403")
        await go_on.wait()

    bench.server.in_the_way = forbid_one
    slice_ = asyncio.create_task(bench.worker(ceiling=8).retrieve(BATCH))
    await all_asked.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(NotAdmitted):
        await slice_

    bench.server.in_the_way = None
    ended = await looked_at(bench)

    assert (ended.end, ended.completed) == (BatchEnd.COMPLETED, 4)
    assert sorted(bench.server.asked) == ["q0", "q1", "q1", "q2", "q3"]


async def test_a_refused_key_is_said_and_frees_the_batch(bench: Bench) -> None:
    await bench.created(3)

    async def refuse(text: str) -> None:
        raise NotAdmitted("401")

    bench.server.in_the_way = refuse
    with pytest.raises(NotAdmitted):
        await looked_at(bench)

    bench.server.in_the_way = None
    assert (await looked_at(bench)).completed == 3


async def test_a_cancel_stops_who_is_at_work_and_keeps_what_there_is(bench: Bench) -> None:
    await bench.created(10)

    asked, go_on = asyncio.Event(), asyncio.Event()

    async def wait(text: str) -> None:
        if text == "q3":
            asked.set()
            await go_on.wait()

    bench.server.in_the_way = wait
    eager = Terms(max_line_bytes=10_000, renew=timedelta(milliseconds=1))
    working = asyncio.create_task(bench.worker(eager, ceiling=1).retrieve(BATCH))
    await asked.wait()
    await bench.worker().cancel(BATCH)
    # Whoever works renews its lease on what it has read since: then it knows.
    for _ in range(2):
        await bench.renewal()
    go_on.set()
    await working

    ended = await looked_at(bench)

    answered, unrun = await bench.rows(ended.output_file), await bench.rows(ended.error_file)
    assert ended.end is BatchEnd.CANCELLED
    assert set(answered.values()) == {RowKind.ANSWER}
    assert set(unrun.values()) == {RowKind.CANCELLED}
    assert sorted([*answered, *unrun]) == sorted(f"r-{n}" for n in range(10))
    assert len(answered) == len(bench.server.asked) < 10


async def test_when_the_window_ends_what_is_left_has_expired(bench: Bench) -> None:
    await bench.created(4)
    bench.clock.time += WINDOW

    ended = await looked_at(bench)

    assert ended.end is BatchEnd.EXPIRED
    assert bench.server.asked == []
    assert set((await bench.rows(ended.error_file)).values()) == {RowKind.EXPIRED}


async def test_deleting_the_rows_leaves_nothing(bench: Bench) -> None:
    chunk = await bench.created(4)
    ended = await looked_at(bench)
    assert ended.output_file is not None

    for file in (FileId(KEY), ended.output_file, FileId(f"{KEY}/unrun")):
        await bench.worker().delete(file)
        await bench.worker().delete(file)

    assert [info.path async for info in bench.blobs.list("jobs/")] == []
    assert await bench.blobs.head(chunk.path) is not None
    with pytest.raises(NotFound):
        await looked_at(bench)


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("job_1-0-1-1", True),
        ("job_1-0-1-1/rows", True),
        ("job_1-0-1-1/unrun", True),
        ("batch_1", False),
        ("file-1", False),
        ("job_1", False),
        ("", False),
    ],
)
def test_ours_are_told_by_their_names(name: str, own: bool) -> None:
    assert is_own(FileId(name)) is own

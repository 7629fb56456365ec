"""The provider in memory is as unkind as it is told to be."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.adapters.memory.provider import REFUSED_AT_THE_DOOR, Course, MemoryProvider
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.providers.openai.lines import read_row
from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NoCapacity, NotFound, TryAgainLater, Unknowable
from shared.domain.ids import BatchId, ChunkKey, FileId, RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Row, RowKind, judge
from shared.ports.providers import ChunkInput, RemoteBatch, RemoteState
from tests.support.chunks import chunk_input

KEY = ChunkKey("job_1-0-1-1")
NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def provider(clock: Clock) -> MemoryProvider:
    return MemoryProvider(clock=clock, read_row=read_row)


def input_of(provider: MemoryProvider, *prompts: str, endpoint: Endpoint = Endpoint.CHAT) -> ChunkInput:
    content = b"".join(
        provider.write_line(RequestKey(f"run-{n}"), Endpoint.CHAT, {"messages": [{"content": prompt}]})
        for n, prompt in enumerate(prompts)
    )
    return chunk_input(KEY, content, endpoint=endpoint)


async def stage(provider: MemoryProvider, *prompts: str) -> FileId:
    return (await provider.stage(input_of(provider, *prompts))).id


async def run(provider: MemoryProvider, *prompts: str, endpoint: Endpoint = Endpoint.CHAT) -> RemoteBatch:
    batch = await provider.create(
        input_of(provider, *prompts, endpoint=endpoint), await stage(provider, *prompts)
    )
    return await provider.retrieve(batch.id)


async def rows(provider: MemoryProvider, batch: RemoteBatch, endpoint: Endpoint = Endpoint.CHAT) -> list[Row]:
    content = b""
    for file in filter(None, (batch.output_file, batch.error_file)):
        content += b"".join([piece async for piece in provider.download(file)])
    return [provider.read_row(endpoint, line) for line in content.split(b"\n") if line]


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES])
@pytest.mark.parametrize(
    ("fate", "outcome", "reason"),
    [
        (Fate.SUCCESS, Outcome.SUCCEEDED, None),
        (Fate.CONTENT_FILTER, Outcome.REFUSED, "content_filter"),
        (Fate.FILTERED, Outcome.REFUSED, "content_filter"),
        (Fate.REFUSAL, Outcome.REFUSED, "refusal"),
        (Fate.TRUNCATED, Outcome.TRUNCATED, "max_tokens"),
        (Fate.REJECTED, Outcome.FAILED, "invalid_request"),
        (Fate.ERROR, Outcome.FAILED, "provider_error"),
        (Fate.RATE_LIMITED, Outcome.FAILED, "rate_limited"),
        (Fate.MALFORMED, Outcome.FAILED, "unreadable"),
    ],
)
async def test_each_request_meets_the_fate_of_its_text(
    provider: MemoryProvider, endpoint: Endpoint, fate: Fate, outcome: Outcome, reason: str | None
) -> None:
    provider.habits.fates = {"unlucky": fate}

    batch = await run(provider, "an unlucky one", "another", endpoint=endpoint)

    found = {row.key: judge(row, None) for row in await rows(provider, batch, endpoint)}
    assert (found[RequestKey("run-0")].outcome, found[RequestKey("run-0")].reason) == (outcome, reason)
    assert found[RequestKey("run-1")].outcome is Outcome.SUCCEEDED


async def test_rows_may_be_missing_doubled_alien_and_out_of_order(provider: MemoryProvider) -> None:
    provider.habits.fates = {"lost": Fate.MISSING, "twice": Fate.DUPLICATE}
    provider.habits.aliens = 2
    provider.habits.shuffle = True

    batch = await run(provider, *[f"prompt {n}" for n in range(20)], "lost", "twice")

    keys = [row.key for row in await rows(provider, batch)]
    assert len(keys) == 20 + 0 + 2 + 2
    assert "run-20" not in keys
    assert keys.count(RequestKey("run-21")) == 2
    assert keys != sorted(keys, key=str)


@pytest.mark.parametrize(
    ("end", "kind"), [(BatchEnd.EXPIRED, RowKind.EXPIRED), (BatchEnd.CANCELLED, RowKind.CANCELLED)]
)
async def test_a_batch_may_end_with_some_of_its_requests_done(
    provider: MemoryProvider, end: BatchEnd, kind: RowKind
) -> None:
    provider.courses.append(Course(end=end, done=1))

    batch = await run(provider, "one", "two", "three")

    assert (batch.end, batch.completed) == (end, 1)
    assert [row.kind for row in await rows(provider, batch)] == [RowKind.ANSWER, kind, kind]


async def test_a_full_queue_shows_in_both_ways(provider: MemoryProvider) -> None:
    provider.courses.extend([REFUSED_AT_THE_DOOR, Course(end=BatchEnd.FAILED, code="token_limit_exceeded")])
    file = await stage(provider, "one")

    with pytest.raises(NoCapacity):
        await provider.create(chunk_input(KEY), file)
    batch = await provider.create(chunk_input(KEY), file)

    assert batch.out_of_capacity
    assert (batch.output_file, batch.error_file) == (None, None)


async def test_a_create_may_happen_without_an_answer(provider: MemoryProvider) -> None:
    provider.lost_create_answers = 1
    file = await stage(provider, "one")

    with pytest.raises(Unknowable):
        await provider.create(chunk_input(KEY), file)

    assert await provider.find(chunk_input(KEY), since=NOW) is not None
    assert provider.created == [KEY]


async def test_a_second_create_under_the_same_key_is_a_bug_of_ours(provider: MemoryProvider) -> None:
    file = await stage(provider, "one")
    await provider.create(chunk_input(KEY), file)

    with pytest.raises(AssertionError, match="double create"):
        await provider.create(chunk_input(KEY), file)


async def test_a_listing_may_lag(provider: MemoryProvider, clock: Clock) -> None:
    provider.habits.listing_lag = timedelta(seconds=30)
    await provider.create(chunk_input(KEY), await stage(provider, "one"))

    assert await provider.find(chunk_input(KEY), since=NOW) is None
    clock.time += provider.traits.listing_lag
    assert await provider.find(chunk_input(KEY), since=NOW) is not None


async def test_a_batch_takes_its_time_and_a_stuck_one_all_of_it(
    provider: MemoryProvider, clock: Clock
) -> None:
    provider.habits.runs_for = timedelta(hours=2)
    batch = await provider.create(chunk_input(KEY), await stage(provider, "one"))

    clock.time += timedelta(hours=1)
    assert (await provider.retrieve(batch.id)).state is RemoteState.RUNNING
    provider.habits.stuck = True
    clock.time += timedelta(hours=39)
    assert (await provider.retrieve(batch.id)).state is RemoteState.RUNNING
    provider.habits.stuck = False
    assert (await provider.retrieve(batch.id)).end is BatchEnd.COMPLETED


async def test_a_cancelled_batch_keeps_what_was_done(provider: MemoryProvider) -> None:
    provider.habits.stuck = True
    provider.courses.append(Course(done=2))
    batch = await provider.create(chunk_input(KEY), await stage(provider, "one", "two", "three"))

    await provider.cancel(batch.id)

    ended = await provider.retrieve(batch.id)
    assert (ended.end, ended.completed) == (BatchEnd.CANCELLED, 2)


async def test_a_file_may_be_pending_for_a_while(provider: MemoryProvider) -> None:
    provider.habits.pending_reads = 1
    file = await stage(provider, "one")

    with pytest.raises(TryAgainLater):
        await provider.create(chunk_input(KEY), file)
    assert not (await provider.staged(file)).ready
    assert (await provider.staged(file)).ready
    await provider.create(chunk_input(KEY), file)


async def test_files_lapse_unless_they_never_do(provider: MemoryProvider, clock: Clock) -> None:
    lapsing = await stage(provider, "one")
    provider.habits.no_file_expiry = True
    staying = await stage(provider, "one")

    clock.time += timedelta(days=400)

    assert provider.file_ids == [staying]
    assert await provider.expiry(staying) is None
    with pytest.raises(NotFound):
        await provider.staged(lapsing)


async def test_any_verb_may_fail_when_told_to(provider: MemoryProvider) -> None:
    provider.fail("retrieve", TryAgainLater("busy"))
    batch = await provider.create(chunk_input(KEY), await stage(provider, "one"))

    with pytest.raises(TryAgainLater, match="busy"):
        await provider.retrieve(batch.id)
    await provider.retrieve(batch.id)


async def test_a_vector_is_answered_where_one_is_asked_for(provider: MemoryProvider) -> None:
    batch = await run(provider, "one", endpoint=Endpoint.EMBEDDINGS)

    [row] = await rows(provider, batch, Endpoint.EMBEDDINGS)
    assert row.output is not None
    assert row.output.startswith(b"[")


async def test_an_unknown_batch_cannot_be_cancelled(provider: MemoryProvider) -> None:
    with pytest.raises(NotFound):
        await provider.cancel(BatchId("none"))

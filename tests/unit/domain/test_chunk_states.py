"""The whole product of a chunk's states and events: which moves there are, and that there are no others."""

from datetime import UTC, datetime
from itertools import product

import pytest

from shared.domain.chunks import Chunk, ChunkEvent, ChunkState, NamedChunk, Remote, read_chunk_key
from shared.domain.errors import IllegalMove
from shared.domain.ids import BatchId, DeploymentName, JobId

NEVER = "-"
ORDER = ("intend", "receipt", "defer", "end", "collect", "settle", "clear")
# One row a state, one column an event in that order.
TABLE = {
    "planned": ("intended", NEVER, "waiting", "ended", NEVER, NEVER, NEVER),
    "waiting": ("intended", NEVER, "waiting", "ended", NEVER, NEVER, NEVER),
    "intended": ("intended", "submitted", "waiting", "ended", NEVER, NEVER, NEVER),
    "submitted": (NEVER, NEVER, "waiting", "ended", NEVER, NEVER, NEVER),
    "ended": (NEVER, NEVER, NEVER, NEVER, "collected", NEVER, NEVER),
    "collected": (NEVER, NEVER, NEVER, NEVER, NEVER, "settled", NEVER),
    "settled": (NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, "cleared"),
    "cleared": (NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER),
}


def a_chunk(state: ChunkState = ChunkState.PLANNED) -> Chunk:
    return Chunk(
        job_id=JobId("job_01"),
        n=3,
        attempt=2,
        deployment=DeploymentName("mini"),
        provider="azure_openai",
        planned_by=1,
        requests=10,
        bytes=1000,
        tokens=None,
        first=0,
        state=state,
    )


def test_the_table_names_every_state_and_event() -> None:
    assert set(TABLE) == {state.value for state in ChunkState}
    assert set(ORDER) == {event.value for event in ChunkEvent}


@pytest.mark.parametrize(("state", "event"), list(product(ChunkState, ChunkEvent)), ids=str)
def test_a_chunk_moves_as_the_table_says_and_never_otherwise(state: ChunkState, event: ChunkEvent) -> None:
    expected = TABLE[state.value][ORDER.index(event.value)]
    chunk = a_chunk(state)

    if expected is NEVER:
        with pytest.raises(IllegalMove, match=f"{event} is not allowed in {state}"):
            chunk.after(event)
    else:
        assert chunk.after(event) == a_chunk(ChunkState(expected))


def test_a_batch_can_only_be_asked_for_with_an_intent_on_record() -> None:
    sources = {state for state, row in TABLE.items() if row[ORDER.index("receipt")] != NEVER}

    assert sources == {"intended"}


def test_provider_files_are_deleted_of_settled_chunks_only() -> None:
    sources = {state for state, row in TABLE.items() if row[ORDER.index("clear")] != NEVER}

    assert sources == {"settled"}


def test_only_settled_and_cleared_chunks_are_done() -> None:
    assert {state.value for state in ChunkState if a_chunk(state).is_done} == {"settled", "cleared"}


def test_capacity_is_held_from_the_intent_until_the_end() -> None:
    assert {s.value for s in ChunkState if a_chunk(s).holds_capacity} == {"intended", "submitted"}


def test_the_key_stays_the_same_in_every_state_and_names_the_chunk() -> None:
    moved = a_chunk(ChunkState.SUBMITTED)
    told = Chunk(
        job_id=moved.job_id,
        n=moved.n,
        attempt=moved.attempt,
        deployment=moved.deployment,
        provider=moved.provider,
        planned_by=7,
        requests=1,
        bytes=1,
        tokens=5,
        first=9,
        remote=Remote(batch=BatchId("batch_1")),
        due_at=datetime(2026, 1, 1, tzinfo=UTC),
    )

    assert moved.key == told.key == "job_01-3-2-1"
    assert read_chunk_key(moved.key) == NamedChunk(job_id=JobId("job_01"), n=3)

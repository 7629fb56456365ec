"""The whole product of a job's states and events, and what chunks and outcomes say of a job."""

from datetime import UTC, datetime
from itertools import product

import pytest

from shared.domain.catalog import Endpoint
from shared.domain.chunks import ChunkState
from shared.domain.errors import IllegalMove
from shared.domain.ids import AliasName, DeploymentName, JobId, TenantId
from shared.domain.jobs import (
    FINISHED,
    Job,
    JobEvent,
    JobStatus,
    Source,
    SourceKind,
    event_of_end,
    event_of_progress,
)
from shared.domain.outcomes import Outcome, Tally
from tests.unit.domain.test_chunk_states import a_chunk

NEVER = "-"
ORDER = ("plan", "hold", "run", "settle", "complete", "finish_partly", "fail", "cancel")
ENDS = ("completed", "partial", "failed", "cancelled")
NONE = (NEVER,) * 4
MOVING = ("waiting", "running", "settling")
TABLE = {
    "accepted": ("planning", NEVER, NEVER, NEVER, *NONE),
    "planning": ("planning", *MOVING, *NONE),
    "waiting": ("planning", *MOVING, *NONE),
    "running": (NEVER, *MOVING, *NONE),
    "settling": (NEVER, *MOVING, *ENDS),
    "completed": (*NONE, *NONE),
    "partial": (*NONE, *NONE),
    "failed": (*NONE, *NONE),
    "cancelled": (*NONE, *NONE),
}


def a_job(status: JobStatus = JobStatus.ACCEPTED) -> Job:
    return Job(
        id=JobId("job_01"),
        tenant=TenantId("support"),
        status=status,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        deadline_at=datetime(2026, 1, 2, tzinfo=UTC),
        alias=AliasName("summarize"),
        endpoint=Endpoint.CHAT,
        deployment=DeploymentName("mini"),
        provider="azure_openai",
        model="gpt-5-mini",
        run_id="job_01",
        source=Source(kind=SourceKind.REQUESTS, path="jobs/support/job_01/source.jsonl"),
    )


def test_the_table_names_every_state_and_event() -> None:
    assert set(TABLE) == {status.value for status in JobStatus}
    assert set(ORDER) == {event.value for event in JobEvent}


@pytest.mark.parametrize(("status", "event"), list(product(JobStatus, JobEvent)), ids=str)
def test_a_job_moves_as_the_table_says_and_never_otherwise(status: JobStatus, event: JobEvent) -> None:
    expected = TABLE[status.value][ORDER.index(event.value)]
    job = a_job(status)

    if expected is NEVER:
        with pytest.raises(IllegalMove, match=f"{event} is not allowed in {status}"):
            job.after(event)
    else:
        assert job.after(event) == a_job(JobStatus(expected))


def test_nothing_moves_a_finished_job() -> None:
    assert {status.value for status in FINISHED} == set(ENDS)
    assert {row for status, row in TABLE.items() if status in ENDS} == {(NEVER,) * 8}


@pytest.mark.parametrize(
    ("states", "event"),
    [
        pytest.param([], "settle", id="nothing to send"),
        pytest.param(["settled", "cleared"], "settle", id="all done"),
        pytest.param(["waiting"], "hold", id="waiting"),
        pytest.param(["waiting", "settled"], "hold", id="what is open waits"),
        pytest.param(["waiting", "submitted"], "run", id="one is out"),
        pytest.param(["planned"], "run", id="planned"),
        pytest.param(["intended"], "run", id="intended"),
        pytest.param(["ended", "settled"], "run", id="ended"),
        pytest.param(["collected"], "run", id="collected"),
    ],
)
def test_a_jobs_progress_is_that_of_its_open_chunks(states: list[str], event: str) -> None:
    assert event_of_progress(a_chunk(ChunkState(s)) for s in states) == event


S, F, C, R, X = Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CANCELLED, Outcome.REFUSED, Outcome.EXPIRED


@pytest.mark.parametrize(
    ("outcomes", "cancelling", "event"),
    [
        pytest.param([S, S], False, "complete", id="all succeeded"),
        pytest.param([S, F], False, "finish_partly", id="some did"),
        pytest.param([S, R], False, "finish_partly", id="a refusal is no success"),
        pytest.param([F, X], False, "fail", id="none did"),
        pytest.param([S, C], True, "cancel", id="cancelled half way"),
        pytest.param([C, C], True, "cancel", id="cancelled before anything ran"),
        pytest.param([S, S], True, "complete", id="cancelled too late"),
        pytest.param([S, F], True, "finish_partly", id="cancelled too late, some failed"),
        pytest.param([S, C], False, "finish_partly", id="cancelled by somebody else at the provider"),
        pytest.param([C], False, "fail", id="all cancelled by somebody else"),
        pytest.param([], False, "complete", id="an empty job has nothing that failed"),
    ],
)
def test_a_job_ends_as_its_outcomes_say(outcomes: list[Outcome], cancelling: bool, event: str) -> None:
    tally = Tally.of(((outcome, None), 1) for outcome in outcomes)

    assert event_of_end(tally, cancelling=cancelling) == event

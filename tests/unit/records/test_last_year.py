"""Records as an earlier version of the app wrote them, letter for letter. They must still read.

Never change a literal here: add the next version's beside it.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd, Chunk, ChunkState, Lease, Remote, RowCounts, Settlement
from shared.domain.errors import GiveUp
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import AliasName, BatchId, DeploymentName, FileId, JobId, TenantId
from shared.domain.jobs import Job, JobStatus, Plan, Source, SourceKind, Totals
from shared.domain.ledger import LedgerRow
from shared.domain.outcomes import Outcome, Tally
from shared.domain.pulses import Pulse
from shared.domain.usage import Spend, Usage
from shared.ports.events import Event
from shared.stores import door
from shared.wire.records import chunk as chunk_record
from shared.wire.records import job as job_record
from shared.wire.records import small

JOB_1 = (
    '{"id":"job_0199aabbccdd0000000000000001","tenant":"support","status":"partial",'
    '"created_at":"2026-11-30T08:00:00+00:00","deadline_at":"2026-12-01T14:00:00+00:00","alias":"summarize",'
    '"endpoint":"responses","deployment":"mini-batch","provider":"azure_openai","model":"gpt-5-mini",'
    '"run_id":"night-1","source":{"kind":"upload","path":"jobs/support/j/source.jsonl","checked":false},'
    '"tags":{"project":"tickets"},"dedupe":false,"fresh":true,"retry_of":"job_0199aabbccdc0000000000000001",'
    '"late":true,"reason":null,"cancel_requested_at":"2026-11-30T09:00:00+00:00",'
    '"plan":{"submitted":5,"unique":4,"reused":1,"chunks":2,"rounds":[1,3],"tally":[["failed","gone",1]]},'
    '"totals":{"tally":[["succeeded",null,4],["failed","gone",1]],"rows":[4,1,2,3,5],"usage":[1,2,3,4,1],'
    '"unattributed":[5,0,0,6,0],"spend":{"amount":"0.000123","standard":"0.000246","unpriced":1}},'
    '"finished_at":"2026-11-30T10:00:00+00:00","results_kept_until":"2027-02-28T10:00:00+00:00",'
    '"erased_at":null}'
)
CHUNK_1 = (
    '{"job_id":"job_1","n":2,"attempt":3,"deployment":"mini-batch","provider":"azure_openai","planned_by":4,'
    '"requests":98,"bytes":1234,"tokens":null,"first":7,"state":"settled","submission":2,"deferrals":1,'
    '"due_at":null,"intended_at":"2026-11-30T08:00:00.123456+00:00",'
    '"lease":{"holder":"h","epoch":2,"until":"2026-11-30T08:02:00+00:00"},'
    '"remote":{"input_file":"file-1","batch":"batch_1","output_file":"file-2","error_file":null,'
    '"completed":97,"failed":1,"expires_at":"2026-12-01T08:00:00+00:00","output_expires_at":null,'
    '"usage":[10,0,0,5,0]},"end":"expired","end_code":"batch_expired","end_message":"too slow",'
    '"cancel_sent_at":null,"booked_at":"2026-11-30T09:00:00+00:00",'
    '"settlement":{"tally":[["succeeded",null,97]],"again":1,"rows":[98,0,0,0,1],"usage":[9,0,0,5,0],'
    '"spend":{"amount":"0.01","standard":"0.02","unpriced":0},"unattributed":[1,0,0,0,0]}}'
)
PULSE_1 = (
    '{"tenant":"support","job_id":"job_1","run":2,"due_at":"2026-11-30T08:00:00+00:00",'
    '"deadline_at":"2026-12-01T14:00:00+00:00","late":false}'
)
LEDGER_1 = (
    '{"tenant":"support","booked_at":"2026-11-30T09:00:00+00:00","source":"job_1|0","attempt":1,'
    '"lane":"hours","tags":{"project":"tickets"},"run_id":"night-1","alias":"summarize",'
    '"deployment":"mini-batch","provider":"azure_openai","model":"gpt-5-mini","requests":98,'
    '"outcomes":{"succeeded":97,"refused":1},"usage":[10,2,0,5,1],"unattributed":[0,0,0,0,0],'
    '"spend":{"amount":"0.0123","standard":"0.0246","unpriced":0},"price_source":"catalogue",'
    '"price_as_of":null}'
)
FINDING_1 = (
    '{"kind":"late_job","subject":"job_1","tenant":null,"message":"late","found_at":"2026-11-30T08:00:00+00:00",'
    '"detail":{"job_id":"job_1"}}'
)
EVENT_1 = (
    '{"id":"job:job_1:completed","type":"postern.job.completed","subject":"tenants/support/jobs/job_1",'
    '"time":"2026-11-30T08:00:00+00:00","data":{"status":"completed","counts":{"submitted":5}}}'
)
REPLY_1 = (
    '{"body_digest":"aa","job_id":"job_1","begun_at":"2026-11-30T08:00:00+00:00",'
    '"held_until":"2026-11-30T08:05:00+00:00","answer":null}'
)
UPLOAD_1 = (
    '{"created_at":"2026-11-30T08:00:00+00:00","expires_at":"2026-12-01T08:00:00+00:00","used_by":"job_1"}'
)


def at(hour: int, day: int = 30, month: int = 11, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)


def test_a_job() -> None:
    assert job_record.from_fields({"schema": "job/1", "status": "partial", "doc0": JOB_1}) == Job(
        id=JobId("job_0199aabbccdd0000000000000001"),
        tenant=TenantId("support"),
        status=JobStatus.PARTIAL,
        created_at=at(8),
        deadline_at=at(14, 1, 12),
        alias=AliasName("summarize"),
        endpoint=Endpoint.RESPONSES,
        deployment=DeploymentName("mini-batch"),
        provider="azure_openai",
        model="gpt-5-mini",
        run_id="night-1",
        source=Source(kind=SourceKind.UPLOAD, path="jobs/support/j/source.jsonl"),
        tags={"project": "tickets"},
        dedupe=False,
        fresh=True,
        retry_of=JobId("job_0199aabbccdc0000000000000001"),
        late=True,
        cancel_requested_at=at(9),
        plan=Plan(
            submitted=5,
            unique=4,
            reused=1,
            chunks=2,
            rounds=(1, 3),
            tally=Tally({(Outcome.FAILED, "gone"): 1}),
        ),
        totals=Totals(
            tally=Tally({(Outcome.SUCCEEDED, None): 4, (Outcome.FAILED, "gone"): 1}),
            rows=RowCounts(received=4, duplicate=1, alien=2, unreadable=3, missing=5),
            usage=Usage(uncached_input=1, cached_input=2, cache_write=3, output=4, reasoning=1),
            unattributed=Usage(uncached_input=5, output=6),
            spend=Spend(amount=Decimal("0.000123"), standard=Decimal("0.000246"), unpriced=1),
        ),
        finished_at=at(10),
        results_kept_until=at(10, 28, 2, 2027),
    )


def test_a_chunk() -> None:
    assert chunk_record.from_fields({"schema": "chunk/1", "state": "settled", "doc0": CHUNK_1}) == Chunk(
        job_id=JobId("job_1"),
        n=2,
        attempt=3,
        deployment=DeploymentName("mini-batch"),
        provider="azure_openai",
        planned_by=4,
        requests=98,
        bytes=1234,
        tokens=None,
        first=7,
        state=ChunkState.SETTLED,
        submission=2,
        deferrals=1,
        intended_at=at(8).replace(microsecond=123456),
        lease=Lease(holder="h", epoch=2, until=at(8).replace(minute=2)),
        remote=Remote(
            input_file=FileId("file-1"),
            batch=BatchId("batch_1"),
            output_file=FileId("file-2"),
            completed=97,
            failed=1,
            expires_at=at(8, 1, 12),
            usage=Usage(uncached_input=10, output=5),
        ),
        end=BatchEnd.EXPIRED,
        end_code="batch_expired",
        end_message="too slow",
        booked_at=at(9),
        settlement=Settlement(
            tally=Tally({(Outcome.SUCCEEDED, None): 97}),
            again=1,
            rows=RowCounts(received=98, missing=1),
            usage=Usage(uncached_input=9, output=5),
            spend=Spend(amount=Decimal("0.01"), standard=Decimal("0.02")),
            unattributed=Usage(uncached_input=1),
        ),
    )


def test_a_pulse() -> None:
    assert small.pulse_from_fields({"schema": "pulse/1", "doc0": PULSE_1}) == Pulse(
        tenant=TenantId("support"), job_id=JobId("job_1"), run=2, due_at=at(8), deadline_at=at(14, 1, 12)
    )


def test_a_ledger_row() -> None:
    assert small.ledger_from_fields({"schema": "ledger/1", "doc0": LEDGER_1}) == LedgerRow(
        tenant=TenantId("support"),
        booked_at=at(9),
        source="job_1|0",
        attempt=1,
        lane="hours",
        tags={"project": "tickets"},
        run_id="night-1",
        alias="summarize",
        deployment="mini-batch",
        provider="azure_openai",
        model="gpt-5-mini",
        requests=98,
        outcomes={"succeeded": 97, "refused": 1},
        usage=Usage(uncached_input=10, cached_input=2, output=5, reasoning=1),
        unattributed=Usage(),
        spend=Spend(amount=Decimal("0.0123"), standard=Decimal("0.0246")),
        price_source="catalogue",
        price_as_of=None,
    )


def test_a_finding() -> None:
    assert small.finding_from_fields({"schema": "finding/1", "doc0": FINDING_1}) == Finding(
        kind=FindingKind.LATE_JOB,
        subject="job_1",
        tenant=None,
        message="late",
        found_at=at(8),
        detail={"job_id": "job_1"},
    )


def test_an_event() -> None:
    assert small.event_from_fields({"schema": "event/1", "doc0": EVENT_1}) == Event(
        id="job:job_1:completed",
        type="postern.job.completed",
        subject="tenants/support/jobs/job_1",
        time=at(8),
        data={"status": "completed", "counts": {"submitted": 5}},
    )


def test_a_reply_and_an_upload() -> None:
    reply = door._reply_from({"schema": "reply/1", "doc0": REPLY_1})
    upload = door._upload_from("upload_1", {"schema": "upload/1", "doc0": UPLOAD_1})

    assert reply == door.Reply(
        body_digest="aa", job_id=JobId("job_1"), begun_at=at(8), held_until=at(8).replace(minute=5)
    )
    assert upload == door.Upload(
        id="upload_1", created_at=at(8), expires_at=at(8, 1, 12), used_by=JobId("job_1")
    )


READERS: list[Callable[[dict[str, Any]], object]] = [
    job_record.from_fields,
    chunk_record.from_fields,
    small.pulse_from_fields,
    small.ledger_from_fields,
    small.finding_from_fields,
    small.event_from_fields,
    door._reply_from,
]


@pytest.mark.parametrize("schema", ["job/99", "", None, 1], ids=str)
@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
def test_a_record_of_an_unknown_schema_is_left_alone(
    read: Callable[[dict[str, Any]], object], schema: object
) -> None:
    with pytest.raises(GiveUp, match="unknown schema"):
        read({"schema": schema, "doc0": "{}"})

"""How pulses, ledger rows, findings, events and uploads are stored."""

from types import MappingProxyType
from typing import Final

from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import JobId, TenantId
from shared.domain.ledger import LedgerRow
from shared.domain.pulses import Pulse
from shared.ports.events import Event
from shared.ports.tables import Fields
from shared.wire.records.document import needed_moment, pack, unpack
from shared.wire.records.figures import spend_from, spend_to, usage_from, usage_to

PULSE: Final = "pulse/1"
LEDGER: Final = "ledger/1"
FINDING: Final = "finding/1"
EVENT: Final = "event/1"


def pulse_to_fields(pulse: Pulse) -> Fields:
    document = {
        "tenant": pulse.tenant,
        "job_id": pulse.job_id,
        "run": pulse.run,
        "due_at": pulse.due_at.isoformat(),
        "deadline_at": pulse.deadline_at.isoformat(),
        "late": pulse.late,
        "flow": pulse.flow,
    }
    return pack(PULSE, document)


def pulse_from_fields(fields: Fields) -> Pulse:
    record = unpack(fields, known=(PULSE,))
    return Pulse(
        tenant=TenantId(record["tenant"]),
        job_id=JobId(record["job_id"]),
        run=record["run"],
        due_at=needed_moment(record["due_at"]),
        deadline_at=needed_moment(record["deadline_at"]),
        late=record["late"],
        # Records from before there was a second flow do not say.
        flow=record.get("flow", 1),
    )


def ledger_to_fields(row: LedgerRow) -> Fields:
    document = {
        "tenant": row.tenant,
        "booked_at": row.booked_at.isoformat(),
        "source": row.source,
        "attempt": row.attempt,
        "lane": row.lane,
        "tags": dict(row.tags),
        "run_id": row.run_id,
        "alias": row.alias,
        "deployment": row.deployment,
        "provider": row.provider,
        "model": row.model,
        "requests": row.requests,
        "outcomes": dict(row.outcomes),
        "usage": usage_to(row.usage),
        "unattributed": usage_to(row.unattributed),
        "spend": spend_to(row.spend),
        "price_source": row.price_source,
        "price_as_of": row.price_as_of,
    }
    return pack(LEDGER, document, booked_at=row.booked_at, model=row.model, cost=str(row.spend.amount))


def ledger_from_fields(fields: Fields) -> LedgerRow:
    record = unpack(fields, known=(LEDGER,))
    return LedgerRow(
        tenant=TenantId(record["tenant"]),
        booked_at=needed_moment(record["booked_at"]),
        source=record["source"],
        attempt=record["attempt"],
        lane=record["lane"],
        tags=MappingProxyType(record["tags"]),
        run_id=record["run_id"],
        alias=record["alias"],
        deployment=record["deployment"],
        provider=record["provider"],
        model=record["model"],
        requests=record["requests"],
        outcomes=MappingProxyType(record["outcomes"]),
        usage=usage_from(record["usage"]),
        unattributed=usage_from(record["unattributed"]),
        spend=spend_from(record["spend"]),
        price_source=record["price_source"],
        price_as_of=record["price_as_of"],
    )


def finding_to_fields(finding: Finding) -> Fields:
    document = {
        "kind": finding.kind.value,
        "subject": finding.subject,
        "tenant": finding.tenant,
        "message": finding.message,
        "found_at": finding.found_at.isoformat(),
        "detail": dict(finding.detail),
    }
    return pack(FINDING, document, kind=finding.kind.value, found_at=finding.found_at)


def finding_from_fields(fields: Fields) -> Finding:
    record = unpack(fields, known=(FINDING,))
    return Finding(
        kind=FindingKind(record["kind"]),
        subject=record["subject"],
        tenant=TenantId(record["tenant"]) if record["tenant"] else None,
        message=record["message"],
        found_at=needed_moment(record["found_at"]),
        detail=MappingProxyType(record["detail"]),
    )


def event_to_fields(event: Event) -> Fields:
    document = {
        "id": event.id,
        "type": event.type,
        "subject": event.subject,
        "time": event.time.isoformat(),
        "data": dict(event.data),
    }
    return pack(EVENT, document, type=event.type)


def event_from_fields(fields: Fields) -> Event:
    record = unpack(fields, known=(EVENT,))
    return Event(
        id=record["id"],
        type=record["type"],
        subject=record["subject"],
        time=needed_moment(record["time"]),
        data=MappingProxyType(record["data"]),
    )

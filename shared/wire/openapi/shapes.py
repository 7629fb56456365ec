"""The shapes of answers, as JSON Schema. A test holds them against what the views really give."""

from typing import Any, Final

from shared.domain.documents import DocumentStatus
from shared.domain.findings import FindingKind
from shared.domain.jobs import JobStatus
from shared.domain.outcomes import Outcome
from shared.wire.views import CHUNK_STATUS

Schema = dict[str, Any]


def object_of(optional: Schema | None = None, /, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties | (optional or {}), "required": list(properties)}


def or_null(kind: str, **more: object) -> Schema:
    return {"type": [kind, "null"], **more}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _page(item: str) -> Schema:
    return object_of(data=list_of(ref(item)), has_more={"type": "boolean"}, next=or_null("string"))


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
MAYBE_TIME: Final = or_null("string", format="date-time")
MAYBE_WHOLE: Final = or_null("integer")
MONEY: Final = or_null("string", description="USD, a decimal number; null where no price is known")

USAGE: Final = object_of(
    input_tokens=WHOLE,
    cached_input_tokens=WHOLE,
    cache_write_tokens=WHOLE,
    output_tokens=WHOLE,
    reasoning_tokens=WHOLE,
)
COST: Final = object_of(amount=MONEY, currency=TEXT, unpriced_requests=WHOLE, saved=MONEY)
REASONS: Final = list_of(object_of(outcome={"enum": list(Outcome)}, reason=TEXT, count=WHOLE))
LINE_ERROR: Final = object_of(line=MAYBE_WHOLE, field=or_null("string"), message=TEXT)
CHUNK: Final = object_of(
    n=WHOLE,
    attempt=WHOLE,
    provider=TEXT,
    deployment=TEXT,
    status={"enum": sorted(set(CHUNK_STATUS.values()))},
    batch_id=or_null("string"),
    requests=WHOLE,
    progress=object_of(completed=MAYBE_WHOLE, failed=MAYBE_WHOLE),
    expires_at=MAYBE_TIME,
)
_COUNTED: Final = ("submitted", "unique", "reused", "pending", *(o.value for o in Outcome))

SCHEMAS: Final[dict[str, Schema]] = {
    "Job": object_of(
        id=TEXT,
        tenant=TEXT,
        status={"enum": list(JobStatus)},
        reason=or_null("string"),
        late={"type": "boolean"},
        alias=TEXT,
        tags={"type": "object", "additionalProperties": TEXT},
        created_at=TIME,
        finished_at=MAYBE_TIME,
        deadline_at=TIME,
        errors=list_of(LINE_ERROR),
        counts=object_of(**dict.fromkeys(_COUNTED, MAYBE_WHOLE)),
        reasons=REASONS,
        usage=USAGE,
        cost=COST,
        chunks=list_of(CHUNK),
        waiting={"anyOf": [object_of(reason=TEXT, position=MAYBE_WHOLE, eta=MAYBE_TIME), {"type": "null"}]},
        results_kept_until=MAYBE_TIME,
        links=object_of(self=TEXT, results=TEXT, report=TEXT, cancel=TEXT),
    ),
    "JobPage": _page("Job"),
    "Report": object_of(
        job_id=TEXT,
        submitted=MAYBE_WHOLE,
        unique=MAYBE_WHOLE,
        reused=MAYBE_WHOLE,
        outcomes=object_of(**{o.value: WHOLE for o in Outcome}),
        reasons=REASONS,
        chunks=list_of(CHUNK),
        rows=object_of(received=WHOLE, duplicate=WHOLE, alien=WHOLE, unreadable=WHOLE, missing=WHOLE),
        usage=USAGE,
        cost=COST,
        balanced={"type": "boolean"},
    ),
    "DroppedDocument": object_of(
        id=TEXT,
        tenant=TEXT,
        pipeline=TEXT,
        path=TEXT,
        status={"enum": list(DocumentStatus)},
        outcome={"enum": [*Outcome, None]},
        reason=or_null("string"),
        message=or_null("string"),
        late={"type": "boolean"},
        alias=or_null("string"),
        tags={"type": "object", "additionalProperties": TEXT},
        job_id=or_null("string"),
        attempts=WHOLE,
        usage={"anyOf": [USAGE, {"type": "null"}]},
        cost={"anyOf": [object_of(amount=MONEY, currency=TEXT), {"type": "null"}]},
        provider=or_null("string"),
        model=or_null("string"),
        result=or_null("string"),
        etag=TEXT,
        content_type=or_null("string"),
        media_type=or_null("string"),
        bytes=WHOLE,
        pages=MAYBE_WHOLE,
        pages_without_text=list_of(WHOLE),
        modified_at=TIME,
        claimed_at=TIME,
        due_at=MAYBE_TIME,
        finished_at=MAYBE_TIME,
        erased_at=MAYBE_TIME,
        links=object_of(self=TEXT, retry=TEXT),
    ),
    "DroppedDocumentPage": _page("DroppedDocument"),
    "Upload": object_of(
        upload_id=TEXT,
        url=TEXT,
        method={"enum": ["PUT"]},
        headers={"type": "object", "additionalProperties": TEXT},
        max_bytes=WHOLE,
        expires_at=TIME,
    ),
    "Usage": object_of(
        **{"from": TIME, "to": TIME, "rows": list_of({"type": "object"}), "total": {"type": "object"}}
    ),
    "Finding": object_of(
        kind={"enum": list(FindingKind)},
        subject=TEXT,
        tenant=or_null("string"),
        message=TEXT,
        found_at=TIME,
        detail={"type": "object", "additionalProperties": TEXT},
    ),
    "FindingPage": _page("Finding"),
    "Alias": object_of(
        alias=TEXT,
        minutes=list_of({"type": "object"}),
        hours=list_of({"type": "object"}),
        max_output_tokens=MAYBE_WHOLE,
    ),
    "AliasPage": _page("Alias"),
    "Health": object_of({"checks": {"type": "object", "additionalProperties": TEXT}}, status=TEXT),
    "Document": {"type": "object"},
    "Problem": {
        **object_of(
            {"errors": list_of(LINE_ERROR), "total_errors": WHOLE},
            type=TEXT,
            title=TEXT,
            status=WHOLE,
            detail=TEXT,
            code=TEXT,
        ),
        "description": "RFC 9457. Input errors add `errors`, up to 100, and `total_errors`.",
    },
}

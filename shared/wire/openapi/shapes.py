"""The shapes of answers, as JSON Schema. A test holds them against what the views really give."""

from typing import Any, Final

from shared.domain.documents import DocumentStatus
from shared.domain.findings import FindingKind
from shared.domain.jobs import JobStatus
from shared.domain.outcomes import Outcome
from shared.wire.views import CHUNK_STATUS

Schema = dict[str, Any]


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _or_null(kind: str, **more: object) -> Schema:
    return {"type": [kind, "null"], **more}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _page(item: str) -> Schema:
    return _object(data=_list(_ref(item)), has_more={"type": "boolean"}, next=_or_null("string"))


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
MAYBE_TIME: Final = _or_null("string", format="date-time")
MAYBE_WHOLE: Final = _or_null("integer")
MONEY: Final = _or_null("string", description="USD, a decimal number; null where no price is known")

USAGE: Final = _object(
    input_tokens=WHOLE,
    cached_input_tokens=WHOLE,
    cache_write_tokens=WHOLE,
    output_tokens=WHOLE,
    reasoning_tokens=WHOLE,
)
COST: Final = _object(amount=MONEY, currency=TEXT, unpriced_requests=WHOLE, saved=MONEY)
REASONS: Final = _list(_object(outcome={"enum": list(Outcome)}, reason=TEXT, count=WHOLE))
LINE_ERROR: Final = _object(line=MAYBE_WHOLE, field=_or_null("string"), message=TEXT)
CHUNK: Final = _object(
    n=WHOLE,
    attempt=WHOLE,
    provider=TEXT,
    deployment=TEXT,
    status={"enum": sorted(set(CHUNK_STATUS.values()))},
    batch_id=_or_null("string"),
    requests=WHOLE,
    progress=_object(completed=MAYBE_WHOLE, failed=MAYBE_WHOLE),
    expires_at=MAYBE_TIME,
)
_COUNTED: Final = ("submitted", "unique", "reused", "pending", *(o.value for o in Outcome))

SCHEMAS: Final[dict[str, Schema]] = {
    "Job": _object(
        id=TEXT,
        tenant=TEXT,
        status={"enum": list(JobStatus)},
        reason=_or_null("string"),
        late={"type": "boolean"},
        alias=TEXT,
        tags={"type": "object", "additionalProperties": TEXT},
        created_at=TIME,
        finished_at=MAYBE_TIME,
        deadline_at=TIME,
        errors=_list(LINE_ERROR),
        counts=_object(**dict.fromkeys(_COUNTED, MAYBE_WHOLE)),
        reasons=REASONS,
        usage=USAGE,
        cost=COST,
        chunks=_list(CHUNK),
        waiting={"anyOf": [_object(reason=TEXT, position=MAYBE_WHOLE, eta=MAYBE_TIME), {"type": "null"}]},
        results_kept_until=MAYBE_TIME,
        links=_object(self=TEXT, results=TEXT, report=TEXT, cancel=TEXT),
    ),
    "JobPage": _page("Job"),
    "Report": _object(
        job_id=TEXT,
        submitted=MAYBE_WHOLE,
        unique=MAYBE_WHOLE,
        reused=MAYBE_WHOLE,
        outcomes=_object(**{o.value: WHOLE for o in Outcome}),
        reasons=REASONS,
        chunks=_list(CHUNK),
        rows=_object(received=WHOLE, duplicate=WHOLE, alien=WHOLE, unreadable=WHOLE, missing=WHOLE),
        usage=USAGE,
        cost=COST,
        balanced={"type": "boolean"},
    ),
    "DroppedDocument": _object(
        id=TEXT,
        tenant=TEXT,
        pipeline=TEXT,
        path=TEXT,
        status={"enum": list(DocumentStatus)},
        outcome={"enum": [*Outcome, None]},
        reason=_or_null("string"),
        message=_or_null("string"),
        late={"type": "boolean"},
        alias=_or_null("string"),
        tags={"type": "object", "additionalProperties": TEXT},
        job_id=_or_null("string"),
        attempts=WHOLE,
        usage={"anyOf": [USAGE, {"type": "null"}]},
        cost={"anyOf": [_object(amount=MONEY, currency=TEXT), {"type": "null"}]},
        provider=_or_null("string"),
        model=_or_null("string"),
        result=_or_null("string"),
        etag=TEXT,
        content_type=_or_null("string"),
        media_type=_or_null("string"),
        bytes=WHOLE,
        pages=MAYBE_WHOLE,
        pages_without_text=_list(WHOLE),
        modified_at=TIME,
        claimed_at=TIME,
        due_at=MAYBE_TIME,
        finished_at=MAYBE_TIME,
        erased_at=MAYBE_TIME,
        links=_object(self=TEXT, retry=TEXT),
    ),
    "DroppedDocumentPage": _page("DroppedDocument"),
    "Upload": _object(
        upload_id=TEXT,
        url=TEXT,
        method={"enum": ["PUT"]},
        headers={"type": "object", "additionalProperties": TEXT},
        max_bytes=WHOLE,
        expires_at=TIME,
    ),
    "Usage": _object(
        **{"from": TIME, "to": TIME, "rows": _list({"type": "object"}), "total": {"type": "object"}}
    ),
    "Finding": _object(
        kind={"enum": list(FindingKind)},
        subject=TEXT,
        tenant=_or_null("string"),
        message=TEXT,
        found_at=TIME,
        detail={"type": "object", "additionalProperties": TEXT},
    ),
    "FindingPage": _page("Finding"),
    "Alias": _object(
        alias=TEXT,
        minutes=_list({"type": "object"}),
        hours=_list({"type": "object"}),
        max_output_tokens=MAYBE_WHOLE,
    ),
    "AliasPage": _page("Alias"),
    "Health": _object(status=TEXT),
    "Document": {"type": "object"},
    "Problem": {
        **_object(type=TEXT, title=TEXT, status=WHOLE, detail=TEXT),
        "description": "RFC 9457. Input errors add `errors`, up to 100, and `total_errors`.",
    },
}

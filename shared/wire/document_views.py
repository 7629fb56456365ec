"""Documents as people read them: the result beside the document, the record, the event. Links hang below a base."""

from collections.abc import Mapping

import msgspec

from shared.domain.answers import Answer
from shared.domain.documents import Document
from shared.domain.usage import Spend, Usage
from shared.wire import paths as places
from shared.wire.figures import CURRENCY, amounts, rfc3339, usage_json


def result_bytes(document: Document, answer: Answer) -> bytes:
    """The JSON of `results/{path}.json`."""
    return msgspec.json.encode(
        {
            "document": {
                "id": document.id,
                "path": document.path,
                "etag": document.etag,
                "content_type": document.content_type,
                "bytes": document.bytes,
                "pages": answer.pages,
                "pages_without_text": list(answer.pages_without_text),
            },
            "outcome": answer.outcome.value,
            "reason": answer.reason,
            "message": answer.message,
            "output": None if answer.output is None else msgspec.Raw(answer.output),
            "parts": answer.parts,
            "usage": _usage(answer.usage),
            "cost": _cost(answer.spend),
            "provider": answer.provider,
            "model": answer.model,
            "attempts": answer.tries,
            "finished_at": rfc3339(answer.finished_at),
        }
    )


def document_json(document: Document, *, base_url: str) -> dict[str, object]:
    """The record. What is not known (yet) is null."""
    own = f"{base_url.rstrip('/')}/v1/documents/{document.id}"
    return {
        **_facts(document),
        "etag": document.etag,
        "content_type": document.content_type,
        "media_type": document.media_type,
        "bytes": document.bytes,
        "pages": document.pages,
        "pages_without_text": list(document.pages_without_text),
        "message": document.message,
        "modified_at": rfc3339(document.modified_at),
        "claimed_at": rfc3339(document.claimed_at),
        "due_at": rfc3339(document.due_at),
        "erased_at": rfc3339(document.erased_at),
        "links": {"self": own, "retry": f"{own}/retry"},
    }


def document_event_data(document: Document) -> Mapping[str, object]:
    """Figures and where to look, no content."""
    return {**_facts(document), "links": {"self": f"/v1/documents/{document.id}"}}


def _facts(document: Document) -> dict[str, object]:
    return {
        "id": document.id,
        "tenant": document.tenant,
        "pipeline": document.pipeline,
        "path": document.path,
        "status": document.status.value,
        "outcome": document.outcome.value if document.outcome else None,
        "reason": document.reason,
        "late": document.late,
        "alias": document.alias,
        "tags": dict(document.tags),
        "job_id": document.job_id,
        "attempts": document.attempts,
        "usage": _usage(document.usage) if document.is_finished else None,
        "cost": _cost(document.spend) if document.is_finished else None,
        "provider": document.provider,
        "model": document.model,
        "result": places.result(document.path) if document.is_finished else None,
        "finished_at": rfc3339(document.finished_at),
    }


def _usage(usage: Usage | None) -> dict[str, int] | None:
    return None if usage is None else usage_json(usage)


def _cost(spend: Spend | None) -> dict[str, str | None]:
    return {"amount": None if spend is None else amounts(spend)[0], "currency": CURRENCY}

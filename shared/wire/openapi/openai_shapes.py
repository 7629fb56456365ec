"""The shapes of the OpenAI-compatible API's answers. A test holds them against what the views really give."""

from typing import Final

from shared.domain.files import Purpose
from shared.wire.batch_views import BatchStatus
from shared.wire.openapi.shapes import MAYBE_WHOLE, TEXT, WHOLE, Schema, list_of, object_of, or_null, ref

_MAYBE_TEXT: Final = or_null("string")
_SECONDS: Final[Schema] = {"type": "integer", "description": "Unix seconds"}
_MAYBE_SECONDS: Final = or_null("integer", description="Unix seconds")
_METADATA: Final = {"anyOf": [{"type": "object", "additionalProperties": TEXT}, {"type": "null"}]}
_LINE_ERRORS: Final = object_of(
    object={"const": "list"},
    data=list_of(object_of(code=TEXT, message=TEXT, param=_MAYBE_TEXT, line=MAYBE_WHOLE)),
)


def _page(item: str) -> Schema:
    return object_of(
        object={"const": "list"},
        data=list_of(ref(item)),
        first_id=_MAYBE_TEXT,
        last_id=_MAYBE_TEXT,
        has_more={"type": "boolean"},
    )


OPENAI_SCHEMAS: Final[dict[str, Schema]] = {
    "Batch": object_of(
        id=TEXT,
        object={"const": "batch"},
        endpoint=TEXT,
        model=_MAYBE_TEXT,
        errors={"anyOf": [_LINE_ERRORS, {"type": "null"}]},
        input_file_id=TEXT,
        completion_window={"const": "24h"},
        status={"enum": list(BatchStatus)},
        output_file_id=_MAYBE_TEXT,
        error_file_id=_MAYBE_TEXT,
        created_at=_SECONDS,
        expires_at=_SECONDS,
        in_progress_at=_MAYBE_SECONDS,
        finalizing_at=_MAYBE_SECONDS,
        completed_at=_MAYBE_SECONDS,
        failed_at=_MAYBE_SECONDS,
        expired_at=_MAYBE_SECONDS,
        cancelling_at=_MAYBE_SECONDS,
        cancelled_at=_MAYBE_SECONDS,
        request_counts=object_of(total=WHOLE, completed=WHOLE, failed=WHOLE),
        usage=object_of(
            input_tokens=WHOLE,
            input_tokens_details=object_of(cached_tokens=WHOLE),
            output_tokens=WHOLE,
            output_tokens_details=object_of(reasoning_tokens=WHOLE),
            total_tokens=WHOLE,
        ),
        metadata=_METADATA,
    ),
    "BatchPage": _page("Batch"),
    "File": object_of(
        id=TEXT,
        object={"const": "file"},
        bytes=WHOLE,
        created_at=_SECONDS,
        filename=TEXT,
        purpose={"enum": list(Purpose)},
        status={"const": "processed"},
        expires_at=_MAYBE_SECONDS,
        status_details=_MAYBE_TEXT,
    ),
    "FilePage": _page("File"),
    "DeletedFile": object_of(id=TEXT, object={"const": "file"}, deleted={"type": "boolean"}),
    "Model": object_of(id=TEXT, object={"const": "model"}, created=WHOLE, owned_by=TEXT),
    "ModelPage": object_of(object={"const": "list"}, data=list_of(ref("Model"))),
    "OpenAIError": object_of(error=object_of(message=TEXT, type=TEXT, param=_MAYBE_TEXT, code=_MAYBE_TEXT)),
}

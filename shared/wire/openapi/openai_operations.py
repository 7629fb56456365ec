"""The operations of the OpenAI-compatible API, each below both families of paths."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from shared.domain.files import Purpose
from shared.wire.batch_calls import MAX_KEY, MAX_PAIRS, MAX_VALUE
from shared.wire.bodies_models import WITHOUT_CONTROLS
from shared.wire.file_form import LEAST_SECONDS, MOST_SECONDS
from shared.wire.openapi.operation import Operation, Query

BYTES: Final = "application/octet-stream"
_REFUSED: Final = {400: "OpenAIError", 401: "OpenAIError", 503: "OpenAIError"}
_ONE: Final = {**_REFUSED, 404: "OpenAIError"}
_VERSION: Final = Query(name="api-version", meaning="Azure's client names one; it changes nothing.")
_AFTER: Final = Query(name="after", meaning="`last_id` of the page before.")


class ExpiresAfter(BaseModel):
    """How long a file is kept, counted from its creation."""

    anchor: Literal["created_at"]
    seconds: Annotated[int, Field(ge=LEAST_SECONDS, le=MOST_SECONDS)]


class FileCreate(BaseModel):
    """The form of an upload. `expires_after` comes as `expires_after[anchor]` and `expires_after[seconds]`."""

    purpose: Literal["batch"]
    file: Annotated[str, Field(json_schema_extra={"format": "binary"})]
    expires_after: ExpiresAfter | None = None


class BatchCreate(BaseModel):
    """`metadata` are the batch's tags."""

    input_file_id: Annotated[str, Field(min_length=1)]
    endpoint: Literal["/v1/chat/completions", "/v1/responses", "/v1/embeddings"]
    completion_window: Literal["24h"]
    metadata: (
        Annotated[
            dict[
                Annotated[str, Field(min_length=1, max_length=MAX_KEY), WITHOUT_CONTROLS],
                Annotated[str, Field(max_length=MAX_VALUE), WITHOUT_CONTROLS],
            ],
            Field(max_length=MAX_PAIRS),
        ]
        | None
    ) = None
    output_expires_after: ExpiresAfter | None = None


def _both(
    method: str, path: str, summary: str, answers: dict[int, str | None], **more: Any
) -> list[Operation]:
    query = (*more.pop("query", ()), _VERSION)
    return [
        Operation(
            method=method, path=f"{prefix}{path}", summary=summary, answers=answers, query=query, **more
        )
        for prefix in ("/openai/v1", "/openai")
    ]


OPENAI_OPERATIONS: Final = (
    *_both(
        "POST",
        "/files",
        "Upload a file of requests",
        {200: "File", **_REFUSED, 413: "OpenAIError"},
        body=FileCreate,
        media="multipart/form-data",
    ),
    *_both(
        "GET",
        "/files",
        "Your files",
        {200: "FilePage", **_REFUSED},
        query=(
            Query(name="limit", meaning="At most this many.", most=10_000),
            _AFTER,
            Query(name="order", meaning="By the time of creation.", values=("asc", "desc")),
            Query(name="purpose", meaning="Only these.", values=tuple(Purpose)),
        ),
    ),
    *_both("GET", "/files/{file_id}", "One file", {200: "File", **_ONE}),
    *_both("DELETE", "/files/{file_id}", "Delete a file and its content", {200: "DeletedFile", **_ONE}),
    *_both(
        "GET",
        "/files/{file_id}/content",
        "A file's content, or the range that is asked for",
        {200: BYTES, 206: BYTES, **_ONE, 416: "OpenAIError"},
    ),
    *_both(
        "POST",
        "/batches",
        "Create a batch of a file",
        {200: "Batch", **_REFUSED, 413: "OpenAIError", 422: "OpenAIError"},
        body=BatchCreate,
    ),
    *_both(
        "GET",
        "/batches",
        "Your batches and jobs, newest first",
        {200: "BatchPage", **_REFUSED},
        query=(Query(name="limit", meaning="At most this many.", most=100), _AFTER),
    ),
    *_both("GET", "/batches/{batch_id}", "One batch, or a job as a batch", {200: "Batch", **_ONE}),
    *_both(
        "POST",
        "/batches/{batch_id}/cancel",
        "Cancel; what was finished before is delivered",
        {200: "Batch", **_ONE},
    ),
    *_both(
        "GET", "/models", "The aliases that a request may name as its model", {200: "ModelPage", **_REFUSED}
    ),
    *_both("GET", "/models/{model}", "One of them", {200: "Model", **_ONE}),
)

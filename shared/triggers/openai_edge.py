"""What the functions of the OpenAI-compatible API share: the calls, and OpenAI's errors for what goes wrong."""

import re
import uuid
from collections.abc import Callable
from typing import Final

from azurefunctions.extensions.http.fastapi import Request, Response, StreamingResponse

from shared.domain.errors import NotFound
from shared.domain.files import File
from shared.ports.orchestrations import Orchestrations
from shared.services.jobs.read_job import JobFilter, SeenJob
from shared.stores.files import is_file_id
from shared.stores.jobs import is_job_id
from shared.triggers.edge import Call, Handler, Refuse, answer, json_response, refusal, whole_body
from shared.wire.batch_calls import read_batch_call
from shared.wire.batch_views import (
    BatchStatus,
    batch_json,
    deleted_json,
    file_json,
    list_json,
    model_json,
    status_of,
)
from shared.wire.file_form import MAX_FILE, MAX_REST, FileForm, too_large
from shared.wire.openai_problems import Invalid, NoSuch, openai_problem
from shared.wire.problems import headers as problem_headers
from shared.wire.problems import printable
from shared.wire.ranges import Unsatisfiable, part_of

MOST_FILES: Final = 10_000
MOST_BATCHES: Final = 100
BATCHES: Final = 20
SMALL: Final = 64 * 1024
# Azure's client names its version in every call.
VERSION: Final = "api-version"
_OVER: Final = frozenset(
    {BatchStatus.COMPLETED, BatchStatus.FAILED, BatchStatus.EXPIRED, BatchStatus.CANCELLED}
)
_LENGTH: Final = re.compile(r"[0-9]{1,18}")


async def openai_answer(request: Request, handler: Handler, takes: tuple[str, ...] = ()) -> Response:
    """The handler's answer with OpenAI's headers, or an error body of OpenAI's shape."""
    response = await answer(request, handler, (*takes, VERSION), refuse=openai_refusal)
    response.headers["x-request-id"] = f"req_{uuid.uuid4().hex}"
    return response


def openai_refusal(error: Exception) -> Response:
    status, body = openai_problem(error)
    extra = dict(problem_headers(error)) | {"content-type": "application/json"}
    if isinstance(error, Unsatisfiable):
        extra["content-range"] = f"bytes */{error.size}"
    return json_response(body, status=status, extra=extra)


def refusal_below(path: str) -> Refuse:
    """How to say no to calls of this path."""
    return openai_refusal if path.startswith("/openai/") else refusal


# Files


async def upload_file(call: Call) -> Response:
    """The body goes to storage as it comes; nothing waits for the whole of it."""
    if _announced(call) > MAX_FILE + MAX_REST:
        raise too_large()
    form = FileForm(call.request.headers.get("content-type"))
    file = await call.app.keep_file(call.tenant.id, form, call.request.stream())
    return json_response(file_json(file))


async def list_files(call: Call) -> Response:
    order = call.query("order") or "desc"
    if order not in ("asc", "desc"):
        raise Invalid("order must be 'asc' or 'desc'", param="order", code="invalid_value")
    page = await call.app.read_files.page(
        await call.tenants(),
        purpose=call.query("purpose"),
        limit=_limit(call, default=MOST_FILES, most=MOST_FILES),
        after=_cursor(call, is_file_id),
        newest_first=order == "desc",
    )
    return json_response(list_json([file_json(file) for file in page.files], has_more=page.has_more))


async def show_file(call: Call) -> Response:
    return json_response(file_json(await _file(call)))


async def delete_file(call: Call) -> Response:
    file = await _file(call)
    await call.app.delete_file(file.tenant, file.id)
    return json_response(deleted_json(file.id))


async def file_content(call: Call) -> Response:
    """All of it, or the one range that was asked for."""
    file = await _file(call)
    asked, etag = call.request.headers, f'"{file.etag}"'
    part = part_of(file.bytes, asked.get("range"), if_range=asked.get("if-range"), etag=etag)
    pieces = await call.app.read_files.content(file, offset=part.offset, length=part.length)
    headers = {"accept-ranges": "bytes", "content-length": str(part.length), "etag": etag}
    if part.partial:
        headers["content-range"] = part.content_range
    return StreamingResponse(
        pieces,
        status_code=206 if part.partial else 200,
        media_type="application/octet-stream",
        headers=headers,
    )


# Batches


async def create_batch(call: Call, orchestrations: Orchestrations) -> Response:
    async with whole_body(call.request, limit=SMALL, instead="a batch names a file") as content:
        wish = read_batch_call(content)
    again = call.request.headers.get("x-stainless-retry-count", "0").strip() not in ("", "0")
    job = await call.app.create_batch(call.tenant, wish, orchestrations, again=again)
    return json_response(_batch(await call.app.read_job.one(job.tenant, job.id)))


async def list_batches(call: Call) -> Response:
    page, more = await call.app.read_job.page(
        await call.tenants(),
        JobFilter(),
        limit=_limit(call, default=BATCHES, most=MOST_BATCHES),
        after=_cursor(call, is_job_id),
    )
    return json_response(list_json([_batch(seen) for seen in page], has_more=more))


async def show_batch(call: Call) -> Response:
    return json_response(_batch(await _seen(call)))


async def cancel_batch(call: Call, orchestrations: Orchestrations) -> Response:
    seen = await _seen(call)
    status = status_of(seen.job)
    if status in _OVER:
        raise Invalid(f"Cannot cancel a batch with status '{status.value}'.")
    await call.app.cancel_job(seen.job.tenant, seen.job.id, orchestrations)
    return json_response(_batch(await _seen(call)))


# Models


async def list_models(call: Call) -> Response:
    catalog = await call.app.catalog.current()
    models = [model_json(alias) for _, alias in sorted(catalog.aliases.items())]
    return json_response({"object": "list", "data": models})


async def show_model(call: Call) -> Response:
    name = call.path("model")
    alias = next((a for a in (await call.app.catalog.current()).aliases.values() if a.name == name), None)
    if alias is None:
        raise NoSuch(f"The model '{printable(name)}' does not exist.", param="model")
    return json_response(model_json(alias))


async def _file(call: Call) -> File:
    return await call.app.read_files.one_of(await call.tenants(), call.path("file_id"))


async def _seen(call: Call) -> SeenJob:
    name = call.path("batch_id")
    if not is_job_id(name):
        raise _no_such_batch(name)
    try:
        return await call.app.show_batch(await call.tenants(), name)
    except NotFound as gone:
        raise _no_such_batch(name) from gone


def _no_such_batch(name: str) -> NoSuch:
    return NoSuch(f"No batch found with id '{printable(name)}'.")


def _batch(seen: SeenJob) -> dict[str, object]:
    return batch_json(seen.job, seen.chunks, seen.errors)


def _announced(call: Call) -> int:
    length = call.request.headers.get("content-length", "")
    return int(length) if _LENGTH.fullmatch(length) else 0


def _limit(call: Call, *, default: int, most: int) -> int:
    text = call.query("limit")
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
        raise Invalid(f"limit must be a whole number from 1 to {most}", param="limit", code="invalid_value")
    return int(text)


def _cursor(call: Call, fits: Callable[[str], bool]) -> str | None:
    """An id of this list, whether or not it is still there."""
    after = call.query("after")
    if after is not None and not fits(after):
        raise Invalid("after must be an id of this list", param="after", code="invalid_value")
    return after

"""Jobs over HTTP: submit, look, fetch, cancel, retry, erase. Bodies and answers stream."""

import uuid
from collections.abc import Awaitable, Callable

import azure.durable_functions as df
import azure.functions as func
import msgspec
from azurefunctions.extensions.http.fastapi import Request, Response, StreamingResponse

from shared.adapters.azure.orchestrations import DurableOrchestrations
from shared.domain.ids import JobId
from shared.domain.jobs import Job, JobStatus
from shared.domain.outcomes import Outcome
from shared.services.jobs.read_job import JobFilter, SeenJob
from shared.stores.jobs import job_id
from shared.triggers.edge import Call, answer, json_response, whole_body
from shared.wire.bodies import read_job, read_retry, read_upload
from shared.wire.cursors import read_cursor, write_cursor
from shared.wire.formats import FORMATS
from shared.wire.problems import NotAvailable, invalid
from shared.wire.selection import lines_in_batches
from shared.wire.views import Waiting, job_json, page_json, report_json

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)

MAX_UPLOAD_BYTES = 4 * 1024**3
MAX_IDEMPOTENCY_KEY = 255
LISTED_BY = ("status", "alias", "project", "tenant", "limit", "after")
UPLOAD_INSTEAD = "send a larger input through POST /v1/uploads and name its upload_id here"


@blueprint.route(route="v1/jobs", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def submit_job(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def submit(call: Call) -> Response:
        async with whole_body(call.request, instead=UPLOAD_INSTEAD) as content:
            return await _submit(call, content, DurableOrchestrations(client))

    return await answer(req, submit)


@blueprint.route(route="v1/jobs/estimate", methods=["POST"])
async def estimate_job(req: Request) -> Response:
    async def estimate(call: Call) -> Response:
        raise NotAvailable("estimates are not available yet")

    return await answer(req, estimate)


@blueprint.route(route="v1/uploads", methods=["POST"])
async def make_upload(req: Request) -> Response:
    async def make(call: Call) -> Response:
        async with whole_body(call.request, limit=64 * 1024, instead="a file name is enough") as content:
            read_upload(content)
        made, place = await call.app.make_upload(call.tenant.id)
        return json_response(
            {
                "upload_id": made.id,
                "url": place.url,
                "method": "PUT",
                "headers": dict(place.headers),
                "max_bytes": MAX_UPLOAD_BYTES,
                "expires_at": f"{place.expires_at:%Y-%m-%dT%H:%M:%SZ}",
            },
            status=201,
        )

    return await answer(req, make)


@blueprint.route(route="v1/jobs", methods=["GET"])
async def list_jobs(req: Request) -> Response:
    return await answer(req, _list, takes=LISTED_BY)


@blueprint.route(route="v1/jobs/{job_id}", methods=["GET"])
async def show_job(req: Request) -> Response:
    async def show(call: Call) -> Response:
        return json_response(_view(call, await _seen(call)))

    return await answer(req, show)


@blueprint.route(route="v1/jobs/{job_id}/results", methods=["GET"])
async def fetch_results(req: Request) -> Response:
    return await answer(req, _results, takes=("format", "outcome", "partial"))


@blueprint.route(route="v1/jobs/{job_id}/report", methods=["GET"])
async def fetch_report(req: Request) -> Response:
    async def report(call: Call) -> Response:
        seen = await _seen(call)
        return json_response(report_json(seen.job, seen.chunks))

    return await answer(req, report)


@blueprint.route(route="v1/jobs/{job_id}/cancel", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def cancel_job(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def cancel(call: Call) -> Response:
        owner = await call.owner_of(call.path("job_id"))
        await call.app.cancel_job(owner, call.path("job_id"), DurableOrchestrations(client))
        return json_response(_view(call, await _seen(call)), status=202)

    return await answer(req, cancel)


@blueprint.route(route="v1/jobs/{job_id}/retry", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def retry_job(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def retry(call: Call) -> Response:
        async with whole_body(call.request, limit=1024 * 1024, instead="a retry has no input") as content:
            return await _retry(call, content, DurableOrchestrations(client))

    return await answer(req, retry)


@blueprint.route(route="v1/jobs/{job_id}", methods=["DELETE"])
async def erase_job(req: Request) -> Response:
    async def erase(call: Call) -> Response:
        await call.app.erase_job(await call.owner_of(call.path("job_id")), call.path("job_id"))
        return Response(status_code=204)

    return await answer(req, erase)


async def _submit(call: Call, content: bytes, orchestrations: DurableOrchestrations) -> Response:
    body = read_job(content)

    async def accept(new_id: JobId) -> Job:
        return await call.app.accept_job(call.tenant, body, len(content), new_id, orchestrations)

    return await accepted(call, content, accept)


async def _retry(call: Call, content: bytes, orchestrations: DurableOrchestrations) -> Response:
    body, old = read_retry(content), call.path("job_id")
    owner = await call.owner_of(old)

    async def accept(new_id: JobId) -> Job:
        return await call.app.retry_job(owner, old, body, new_id, orchestrations)

    return await accepted(call, old.encode() + b"\n" + content, accept)


async def accepted(call: Call, content: bytes, accept: Callable[[JobId], Awaitable[Job]]) -> Response:
    """202 and the job; under an Idempotency-Key the same answer every time."""
    new_id = job_id(int(call.app.clock.now().timestamp() * 1000), uuid.uuid4().hex[:16])

    async def act(given: JobId) -> str:
        job = await accept(given)
        return msgspec.json.encode(job_json(job, (), base_url=call.base_url)).decode()

    key = call.request.headers.get("idempotency-key")
    if key is None:
        text = await act(new_id)
    else:
        text = await call.app.once(call.tenant.id, _checked_key(key), content, new_id, act)
    location = f"{call.base_url}/v1/jobs/{msgspec.json.decode(text)['id']}"
    headers = {"content-type": "application/json", "location": location}
    return Response(text, status_code=202, headers=headers)


def _checked_key(key: str) -> str:
    if not key.strip() or len(key) > MAX_IDEMPOTENCY_KEY:
        raise invalid("Idempotency-Key", f"must have 1 to {MAX_IDEMPOTENCY_KEY} characters")
    return key


async def _seen(call: Call) -> SeenJob:
    return await call.app.read_job.one_of(await call.tenants(), call.path("job_id"))


def _view(call: Call, seen: SeenJob) -> dict[str, object]:
    due = [chunk.due_at for chunk in seen.chunks if chunk.due_at is not None]
    waiting = Waiting(reason=seen.job.reason or "capacity", eta=min(due, default=None))
    return job_json(seen.job, seen.chunks, base_url=call.base_url, waiting=waiting, errors=seen.errors)


async def _list(call: Call) -> Response:
    """The caller's own jobs, newest first; an operator sees everybody's, or those of one `?tenant=`."""
    limit = call.number("limit", default=50, most=200)
    wanted = JobFilter(
        status=call.choice("status", tuple(JobStatus)),
        alias=call.query("alias"),
        project=call.query("project"),
    )
    tenants = await call.tenants_asked_for()
    scope = f"jobs:{call.tenant.id}:{call.query('tenant')}:{wanted.status}:{wanted.alias}:{wanted.project}"
    cursor = call.query("after")
    after = read_cursor(scope, cursor) if cursor else None
    page, more = await call.app.read_job.page(tenants, wanted, limit=limit, after=after)
    following = write_cursor(scope, page[-1].job.id) if more else None
    return json_response(page_json([_view(call, seen) for seen in page], next_cursor=following))


async def _results(call: Call) -> Response:
    """The results as they are stored, or filtered, or as a table."""
    form = FORMATS[call.choice("format", tuple(FORMATS)) or "jsonl"]
    outcome = call.choice("outcome", tuple(Outcome))
    partial = call.choice("partial", ("true", "false")) == "true"
    seen = await _seen(call)
    pieces = await call.app.read_job.results(seen, partial=partial)
    lines = lines_in_batches(pieces, outcome=Outcome(outcome) if outcome else None)
    name = f'attachment; filename="{seen.job.id}.{form.extension}"'
    return StreamingResponse(
        form.convert(lines), media_type=form.media_type, headers={"content-disposition": name}
    )

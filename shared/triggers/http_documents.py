"""Documents over HTTP: look, retry, erase; and a pipeline's documents once more."""

from collections.abc import Sequence

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from shared.adapters.azure.orchestrations import DurableOrchestrations
from shared.domain.documents import Document, DocumentStatus
from shared.domain.ids import JobId, TenantId
from shared.domain.jobs import Job
from shared.services.documents.read_documents import DocumentFilter
from shared.stores.stored import Stored
from shared.triggers.edge import Call, answer, json_response, whole_body
from shared.triggers.http_jobs import accepted
from shared.wire.bodies import read_rescore, read_retry
from shared.wire.cursors import read_cursor, write_cursor
from shared.wire.document_views import document_json
from shared.wire.problems import invalid
from shared.wire.views import page_json

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


@blueprint.route(route="v1/documents", methods=["GET"])
async def list_documents(req: Request) -> Response:
    return await answer(req, _list, takes=("status", "pipeline", "tenant", "limit", "after"))


@blueprint.route(route="v1/documents/{document_id}", methods=["GET"])
async def show_document(req: Request) -> Response:
    async def show(call: Call) -> Response:
        return json_response(_view(call, (await _asked_for(call)).value))

    return await answer(req, show)


@blueprint.route(route="v1/documents/{document_id}/retry", methods=["POST"])
async def retry_document(req: Request) -> Response:
    return await answer(req, _retry)


@blueprint.route(route="v1/documents/{document_id}", methods=["DELETE"])
async def erase_document(req: Request) -> Response:
    async def erase(call: Call) -> Response:
        await call.app.erase_document(await _asked_for(call))
        return Response(status_code=204)

    return await answer(req, erase)


@blueprint.route(route="v1/pipelines/{name}/rescore", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def rescore_pipeline(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def rescore(call: Call) -> Response:
        async with whole_body(call.request, limit=1024 * 1024, instead="a prompt is shorter") as content:
            return await _rescore(call, content, DurableOrchestrations(client))

    return await answer(req, rescore)


async def _retry(call: Call) -> Response:
    async with whole_body(call.request, limit=64 * 1024, instead="a retry has no input") as content:
        body = read_retry(content)
    if body.params:
        raise invalid("params", "cannot be changed for a document; change its pipeline")
    document = await call.app.retry_document(await _asked_for(call), body.include)
    return json_response(_view(call, document), status=202)


async def _rescore(call: Call, content: bytes, orchestrations: DurableOrchestrations) -> Response:
    body, name = read_rescore(content), call.path("name")

    async def accept(new_id: JobId) -> Job:
        return await call.app.rescore_pipeline(call.tenant, name, body, new_id, orchestrations)

    return await accepted(call, name.encode() + b"\n" + content, accept)


async def _owners(call: Call) -> Sequence[TenantId | None]:
    """Whose lists the caller sees: its own; as an operator everybody's, and that of nobody's documents."""
    tenants = await call.tenants_asked_for()
    everybody = call.tenant.admin and call.query("tenant") is None
    return [*tenants, None] if everybody else tenants


async def _asked_for(call: Call) -> Stored[Document]:
    return await call.app.read_documents.one(await _owners(call), call.path("document_id"))


async def _list(call: Call) -> Response:
    limit = call.number("limit", default=50, most=200)
    wanted = DocumentFilter(
        status=call.choice("status", tuple(DocumentStatus)), pipeline=call.query("pipeline")
    )
    owners = await _owners(call)
    scope = f"documents:{call.tenant.id}:{call.query('tenant')}:{wanted.status}:{wanted.pipeline}"
    cursor = call.query("after")
    after = read_cursor(scope, cursor) if cursor else None
    found, more = await call.app.read_documents.page(owners, wanted, limit=limit, after=after)
    data = [_view(call, document) for document in found]
    return json_response(page_json(data, next_cursor=write_cursor(scope, found[-1].id) if more else None))


def _view(call: Call, document: Document) -> dict[str, object]:
    return document_json(document, base_url=call.base_url)

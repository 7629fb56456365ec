"""The OpenAI-compatible API, as the official client calls it."""

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from shared.adapters.azure.orchestrations import DurableOrchestrations
from shared.triggers import openai_edge as openai
from shared.triggers.edge import Call

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


@blueprint.route(route="openai/v1/files", methods=["POST"])
async def openai_upload_file(req: Request) -> Response:
    return await openai.openai_answer(req, openai.upload_file)


@blueprint.route(route="openai/v1/files", methods=["GET"])
async def openai_list_files(req: Request) -> Response:
    return await openai.openai_answer(req, openai.list_files, takes=("after", "limit", "order", "purpose"))


@blueprint.route(route="openai/v1/files/{file_id}", methods=["GET"])
async def openai_show_file(req: Request) -> Response:
    return await openai.openai_answer(req, openai.show_file)


@blueprint.route(route="openai/v1/files/{file_id}", methods=["DELETE"])
async def openai_delete_file(req: Request) -> Response:
    return await openai.openai_answer(req, openai.delete_file)


@blueprint.route(route="openai/v1/files/{file_id}/content", methods=["GET"])
async def openai_file_content(req: Request) -> Response:
    return await openai.openai_answer(req, openai.file_content)


@blueprint.route(route="openai/v1/batches", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def openai_create_batch(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def create(call: Call) -> Response:
        return await openai.create_batch(call, DurableOrchestrations(client))

    return await openai.openai_answer(req, create)


@blueprint.route(route="openai/v1/batches", methods=["GET"])
async def openai_list_batches(req: Request) -> Response:
    return await openai.openai_answer(req, openai.list_batches, takes=("after", "limit"))


@blueprint.route(route="openai/v1/batches/{batch_id}", methods=["GET"])
async def openai_show_batch(req: Request) -> Response:
    return await openai.openai_answer(req, openai.show_batch)


@blueprint.route(route="openai/v1/batches/{batch_id}/cancel", methods=["POST"])
@blueprint.durable_client_input(client_name="client")
async def openai_cancel_batch(req: Request, client: df.DurableFunctionsClient) -> Response:
    async def cancel(call: Call) -> Response:
        return await openai.cancel_batch(call, DurableOrchestrations(client))

    return await openai.openai_answer(req, cancel)


@blueprint.route(route="openai/v1/models", methods=["GET"])
async def openai_list_models(req: Request) -> Response:
    return await openai.openai_answer(req, openai.list_models)


@blueprint.route(route="openai/v1/models/{model}", methods=["GET"])
async def openai_show_model(req: Request) -> Response:
    return await openai.openai_answer(req, openai.show_model)

"""Is the app alive, and can it work? For load balancers and people without credentials."""

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from shared.triggers.edge import json_response, ready
from shared.triggers.worker_memory import answered

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


@blueprint.route(route="healthz", methods=["GET", "HEAD"])
async def healthz(req: Request) -> Response:
    answered.forget()
    return json_response({"status": "alive"})


@blueprint.route(route="readyz", methods=["GET", "HEAD"])
async def readyz(req: Request) -> Response:
    return await ready()

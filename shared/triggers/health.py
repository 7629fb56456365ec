"""Is the app alive, and can it work? For load balancers and people without credentials."""

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from shared.bootstrap import application
from shared.triggers.edge import json_response
from shared.triggers.worker_memory import answered

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


@blueprint.route(route="healthz", methods=["GET"])
async def healthz(req: Request) -> Response:
    answered.forget()
    return json_response({"status": "alive"})


@blueprint.route(route="readyz", methods=["GET"])
async def readyz(req: Request) -> Response:
    answered.forget()
    checks = await application().check_health()
    return json_response(checks.document, status=checks.status)

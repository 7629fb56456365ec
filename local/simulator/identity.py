"""The identity of the app: the endpoint where a Function App asks for its managed identity's tokens.

Wire format of App Service, api-version 2019-08-01 (Microsoft's "Use managed identities for App Service and Azure
Functions" page, read 2026-11-30). The tokens are good for the simulator only, which looks at none of them.
"""

import time

from aiohttp import web

from local.simulator.failures import CallRefused

PATH = "/identity/token"
# What the app sends along, so that nobody else on the machine is given a token by accident.
HEADER_VALUE = "local"
LIFETIME_SECONDS = 86_400


async def give_token(request: web.Request) -> web.Response:
    if request.headers.get("X-IDENTITY-HEADER") != HEADER_VALUE:
        raise CallRefused(401, "Unauthorized", "The header X-IDENTITY-HEADER is missing or wrong.")
    resource = request.query.get("resource")
    if not resource:
        raise CallRefused(400, "InvalidResource", "The parameter resource is missing.")
    return web.json_response(
        {
            "access_token": f"local-token-for-{resource}",
            "expires_on": str(int(time.time()) + LIFETIME_SECONDS),
            "resource": resource,
            "token_type": "Bearer",
            "client_id": request.query.get("client_id", "local"),
        }
    )

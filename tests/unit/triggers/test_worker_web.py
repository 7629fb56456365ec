"""The web server inside the worker hands on whatever comes."""

from typing import Any

import httpx2
import pytest
from azurefunctions.extensions.http.fastapi import web
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

import function_app


@pytest.mark.parametrize(
    "path",
    ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect", "/v1/jobs/a%0Ab", "/a/%0d%0a", "/", "//x/"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_every_path_reaches_its_function(path: str, method: str) -> None:
    assert function_app.app is not None
    worker: Any = web.WebApp()  # type: ignore[attr-defined, abstract]

    @worker.route  # type: ignore[untyped-decorator]
    async def catch_all(request: Request) -> Response:
        return PlainTextResponse("a function's")

    transport = httpx2.ASGITransport(app=worker.get_app())
    async with httpx2.AsyncClient(transport=transport, base_url="http://worker") as client:
        response = await client.request(method, path)

    assert (response.status_code, response.text) == (200, "a function's")

"""HTTP functions of an app without a streaming extension: bodies travel whole, inside the invocation."""

from __future__ import annotations

from collections.abc import Mapping

from aiohttp import web
from multidict import CIMultiDict

from local.host.functions import Function
from local.host.invoker import Invoker, log_failure
from local.host.messages import InvocationResponse, RpcHttp, RpcHttpCookie, TypedData
from local.host.worker import InvocationFailed


class WholeRequests:
    """Reads the request, invokes, and writes what the function returned."""

    def __init__(self, invoker: Invoker, *, max_body_bytes: int) -> None:
        self._invoker = invoker
        self._max_body_bytes = max_body_bytes

    async def start(self) -> None:
        """Nothing to open."""

    async def stop(self) -> None:
        """Nothing to close."""

    async def answer(
        self, request: web.Request, function: Function, parameters: Mapping[str, str]
    ) -> web.StreamResponse:
        body = await self._read(request)
        if body is None:
            return web.Response(status=413)
        try:
            response = await self._invoker(
                function, TypedData(http=describe(request, parameters, TypedData(bytes=body or None)))
            )
        except InvocationFailed as failure:
            log_failure(function, failure)
            return web.Response(status=500)
        return _written(response)

    async def _read(self, request: web.Request) -> bytes | None:
        """The body; None when it is larger than allowed."""
        body = bytearray()
        async for part in request.content.iter_any():
            body += part
            if len(body) > self._max_body_bytes:
                return None
        return bytes(body)


def describe(request: web.Request, parameters: Mapping[str, str], body: TypedData) -> RpcHttp:
    """The request as the worker is told of it; repeated headers and query values joined by a comma."""
    return RpcHttp(
        method=request.method,
        url=str(request.url),
        headers={name.lower(): ",".join(request.headers.getall(name)) for name in request.headers},
        params=dict(parameters),
        query={name: ",".join(request.query.getall(name)) for name in request.query},
        body=body,
    )


def _written(response: InvocationResponse) -> web.Response:
    returned = response.return_value
    if returned is None or returned.value is None:
        return web.Response(status=204)
    if returned.WhichOneof("data") != "http":
        text = returned.value
        return web.Response(body=text if isinstance(text, bytes) else str(text).encode())
    answer = returned.http
    body = answer.body.value if answer.body is not None else None
    written = web.Response(
        status=int(answer.status_code),
        body=body.encode() if isinstance(body, str) else body,
        headers=CIMultiDict(answer.headers),
    )
    for cookie in answer.cookies or ():
        _set_cookie(written, cookie)
    return written


def _set_cookie(response: web.Response, cookie: RpcHttpCookie) -> None:
    def value(name: str) -> str | None:
        nullable = getattr(cookie, name)
        return None if nullable is None or nullable.value is None else str(nullable.value)

    max_age = value("max_age")
    response.set_cookie(
        cookie.name,
        cookie.value,
        path=value("path") or "/",
        domain=value("domain"),
        secure=value("secure") == "True",
        httponly=value("http_only") == "True",
        max_age=None if max_age is None else int(float(max_age)),
    )

"""HTTP functions of an app that streams: the worker serves HTTP itself, the host is a proxy in front of it.

For every request two things go out side by side: the request itself, to the worker's HTTP server, marked
with an invocation id; and the invocation with that id. The worker brings them together. Bodies and answers
pass through in pieces, so that their size does not matter.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from local.host.functions import Function
from local.host.invoker import Invoker, log_failure
from local.host.messages import RpcHttp, TypedData
from local.host.worker import InvocationFailed

log = logging.getLogger(__name__)

INVOCATION_ID = "x-ms-invocation-id"
# They belong to one connection and are not passed on (RFC 9110, 7.6.1).
_HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "expect",
    }
)
# How long one half may run on after the other has ended; they normally end within milliseconds.
_STRAGGLE_SECONDS = 5.0


class _BodyTooLarge(Exception):
    """A body without a length has grown past the limit."""


@dataclass(slots=True, kw_only=True)
class _Exchange:
    """One request on its way through; `answering` from the first byte of the answer on."""

    id: str
    request: web.Request
    function: Function
    answering: bool = False


class Forwarder:
    """Proxies to the worker's HTTP server at `address`."""

    def __init__(self, invoker: Invoker, *, address: str, max_body_bytes: int) -> None:
        self._invoker = invoker
        self._address = address
        self._max_body_bytes = max_body_bytes
        self._session: aiohttp.ClientSession | None = None
        self._invocations: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            # The worker closes idle connections later than this, so none is reused while it closes.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=15),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=5),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        )

    async def stop(self) -> None:
        for task in self._invocations:
            task.cancel()
        await asyncio.gather(*self._invocations, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    async def answer(
        self, request: web.Request, function: Function, parameters: Mapping[str, str]
    ) -> web.StreamResponse:
        exchange = _Exchange(id=str(uuid.uuid4()), request=request, function=function)
        invocation = self._begin(exchange, parameters)
        forward = asyncio.create_task(self._forward(exchange))
        try:
            return await self._brought_together(exchange, forward, invocation)
        except (aiohttp.ClientError, ConnectionError) as exc:
            return _broken(exchange, exc)
        finally:
            forward.cancel()

    def _begin(self, exchange: _Exchange, parameters: Mapping[str, str]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._invoke(exchange, parameters))
        self._invocations.add(task)
        task.add_done_callback(self._invocations.discard)
        return task

    async def _invoke(self, exchange: _Exchange, parameters: Mapping[str, str]) -> None:
        data = TypedData(http=_summary(exchange.request, parameters))
        try:
            await self._invoker(exchange.function, data, invocation_id=exchange.id)
        except InvocationFailed as failure:
            log_failure(exchange.function, failure)

    async def _brought_together(
        self,
        exchange: _Exchange,
        forward: asyncio.Task[web.StreamResponse],
        invocation: asyncio.Task[None],
    ) -> web.StreamResponse:
        """The answer, but never waiting for one half when the other has ended without it."""
        await asyncio.wait({forward, invocation}, return_when=asyncio.FIRST_COMPLETED)
        if forward.done():
            self._abandon_later(invocation)
            return forward.result()
        await asyncio.wait({forward}, timeout=_STRAGGLE_SECONDS)
        if not forward.done() and not exchange.answering:
            log.error("answer.missing %s", exchange.function.name)
            return web.Response(status=500)
        return await forward

    def _abandon_later(self, invocation: asyncio.Task[None]) -> None:
        """End an invocation whose request was answered without it, as when the web framework did."""
        if not invocation.done():
            handle = asyncio.get_running_loop().call_later(_STRAGGLE_SECONDS, invocation.cancel)
            invocation.add_done_callback(lambda _: handle.cancel())

    async def _forward(self, exchange: _Exchange) -> web.StreamResponse:
        assert self._session is not None
        request = exchange.request
        async with self._session.request(
            request.method,
            URL(self._address + request.raw_path, encoded=True),
            headers=_passed_on(request.headers, {INVOCATION_ID: exchange.id}),
            data=self._body(request) if request.can_read_body else None,
            allow_redirects=False,
        ) as upstream:
            return await _relay(exchange, upstream)

    async def _body(self, request: web.Request) -> AsyncIterator[bytes]:
        size = 0
        async for part in request.content.iter_any():
            size += len(part)
            if size > self._max_body_bytes:
                raise _BodyTooLarge
            yield part


def _broken(exchange: _Exchange, exc: Exception) -> web.StreamResponse:
    """What is left to say when a connection broke: nothing when it was the client's."""
    if isinstance(exc.__cause__, _BodyTooLarge):
        return web.Response(status=413)
    name = exchange.function.name
    transport = exchange.request.transport
    if transport is None or transport.is_closing():
        log.info("client.gone %s", name)
    else:
        log.error("forward.failed %s: %s: %s", name, type(exc).__name__, exc)
    return web.Response(status=502)


def _summary(request: web.Request, parameters: Mapping[str, str]) -> RpcHttp:
    # The function gets the real request; of this one the worker only takes the route parameters.
    return RpcHttp(
        method=request.method,
        url=str(request.url),
        headers={},
        params=dict(parameters),
        query={},
        body=TypedData(),
    )


def _passed_on(headers: Mapping[str, str], added: Mapping[str, str] | None = None) -> CIMultiDict[str]:
    """`headers` without those of the connection, `added` in place of any of the same name."""
    named = {name.strip().lower() for name in headers.get("Connection", "").split(",")}
    kept = CIMultiDict(
        (name, value)
        for name, value in headers.items()
        if name.lower() not in _HOP_BY_HOP and name.lower() not in named
    )
    kept.update(added or {})
    return kept


async def _relay(exchange: _Exchange, upstream: aiohttp.ClientResponse) -> web.StreamResponse:
    request, exchange.answering = exchange.request, True
    response = web.StreamResponse(
        status=upstream.status, reason=upstream.reason, headers=_passed_on(upstream.headers)
    )
    await response.prepare(request)
    try:
        async for part in upstream.content.iter_any():
            await response.write(part)
    except aiohttp.ClientPayloadError:
        # The function broke off in the middle. The client must not take what it has for the whole.
        log.warning("answer.broken_off %s %s", request.method, request.path)
        if request.transport is not None:
            request.transport.abort()
    return response

"""HTTP triggers: finds the function of a request and has it answered, streamed or whole."""

from __future__ import annotations

from collections.abc import Iterable

from aiohttp import web

from local.host.configuration import Configuration
from local.host.forwarding import Forwarder
from local.host.functions import Function
from local.host.invoker import Invoker
from local.host.routes import RouteTable, compile_route
from local.host.whole_requests import WholeRequests


class HttpTrigger:
    """Streams through the worker's own HTTP server when it has one, else hands over whole bodies."""

    types = frozenset({"httpTrigger"})

    def __init__(self, *, configuration: Configuration, invoker: Invoker) -> None:
        self._configuration = configuration
        self._table = RouteTable()
        address = invoker.http_address
        self._handler: Forwarder | WholeRequests = (
            WholeRequests(invoker, max_body_bytes=configuration.max_body_bytes)
            if address is None
            else Forwarder(invoker, address=address, max_body_bytes=configuration.max_body_bytes)
        )

    def bind(self, function: Function) -> None:
        self._table.add(compile_route(function, prefix=self._configuration.route_prefix))

    def routes(self) -> Iterable[web.RouteDef]:
        # Last in the host's table: every path that no other part of the host has claimed, with line ends too.
        return [web.route("*", r"/{path:[\s\S]*}", self._serve)]

    async def start(self) -> None:
        await self._handler.start()

    async def stop(self) -> None:
        await self._handler.stop()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if not request.raw_path.startswith("/") or not request.raw_path.isascii():
            return web.Response(status=400, text="the request target must be a percent-encoded path")
        if not _has_address(request):
            return web.Response(status=400, text="the header 'Host' must be a host and a port")
        found = self._table.find(request.method, request.raw_path.partition("?")[0])
        if found is None:
            return web.Response(status=404)
        length = request.content_length
        if length is not None and length > self._configuration.max_body_bytes:
            return web.Response(status=413)
        function, parameters = found
        return await self._handler.answer(request, function, parameters)


def _has_address(request: web.Request) -> bool:
    """Whether the request's own URL can be told, which takes a `Host` that is one."""
    try:
        return bool(request.url)
    except ValueError:
        return False

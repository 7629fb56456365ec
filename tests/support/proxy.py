"""A proxy on loopback in front of a real service, to break what goes through at a chosen moment."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO

from aiohttp import ClientSession, web
from yarl import URL

MAX_BODY_BYTES = 16 * 1024 * 1024
_HOP_HEADERS = frozenset({"Transfer-Encoding", "Connection", "Keep-Alive"})

Matches = Callable[[web.Request], bool]


@dataclass(slots=True)
class Fault:
    """What happens to the next `times` requests that match.

    `status` answers in the service's place; without it the service acts and its answer is lost.
    """

    matches: Matches
    times: int = 1
    status: int | None = None


@dataclass(slots=True)
class Proxy:
    """`seen` lists method and path with query of every request; `at_once` is the most that were open."""

    target: str
    address: str = ""
    faults: list[Fault] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    at_once: int = 0
    open: int = 0

    def lose_answer(self, matches: Matches, *, times: int = 1) -> None:
        self.faults.append(Fault(matches, times))

    def answer(self, status: int, matches: Matches, *, times: int = 1) -> None:
        self.faults.append(Fault(matches, times, status))

    def fault(self, request: web.Request) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and fault.matches(request):
                fault.times -= 1
                return fault
        return None


@asynccontextmanager
async def proxy_before(url: str) -> AsyncIterator[Proxy]:
    """A proxy for the service at `url`; its `address` has the same path."""
    there = URL(url)
    proxy = Proxy(target=str(there.origin()))
    async with ClientSession(auto_decompress=False) as session:

        async def forward(request: web.Request) -> web.StreamResponse:
            proxy.seen.append(f"{request.method} {request.raw_path}")
            proxy.open += 1
            proxy.at_once = max(proxy.at_once, proxy.open)
            try:
                return await _answer(proxy, session, request)
            finally:
                proxy.open -= 1

        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_route("*", "/{anything:.*}", forward)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            proxy.address = f"http://{host}:{port}{there.raw_path}"
            yield proxy
        finally:
            await runner.cleanup()


async def _answer(proxy: Proxy, session: ClientSession, request: web.Request) -> web.StreamResponse:
    body = await request.read()
    fault = proxy.fault(request)
    if fault is not None and fault.status is not None:
        return web.Response(status=fault.status)
    url = URL(proxy.target + request.raw_path, encoded=True)
    # The service checks a signature over the headers: none may be added.
    async with session.request(
        request.method,
        url,
        headers=request.headers,
        data=BytesIO(body) if body else None,
        skip_auto_headers=("Content-Type", "Accept", "Accept-Encoding", "User-Agent"),
    ) as answer:
        content = await answer.read()
    if fault is not None:
        assert request.transport is not None
        request.transport.close()
    kept = {name: value for name, value in answer.headers.items() if name not in _HOP_HEADERS}
    return web.Response(status=answer.status, headers=kept, body=content)

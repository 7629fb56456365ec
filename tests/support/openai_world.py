"""The app on in-memory parts behind the OpenAI-compatible calls, spoken to by the official client."""

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

import httpx2
import msgspec
from openai import AsyncOpenAI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.domain.catalog import Tenant
from shared.domain.ids import TenantId
from shared.triggers import openai_edge as openai
from shared.triggers.edge import Call
from tests.support.world import World

ADMIN: Final = "operators"
LISTED = ("after", "limit", "order", "purpose")

type Handler = Callable[[Call], Awaitable[Response]]


def key_of(tenant: str) -> str:
    return f"key-of-{tenant}"


def _known(tenant: Tenant) -> Tenant:
    return replace(tenant, keys=frozenset({hashlib.sha256(key_of(tenant.id).encode()).hexdigest()}))


class OpenAIWorld(World):
    """Tenants `support`, `retail`, `strict` (its jobs must carry `project`) and `operators`."""

    def __init__(self) -> None:
        super().__init__()
        tenants = [
            *self.catalog.catalog.tenants.values(),
            Tenant(id=TenantId("strict"), required_tags=("project",)),
            Tenant(id=TenantId(ADMIN), admin=True),
        ]
        known = MappingProxyType({t.id: _known(t) for t in tenants})
        self.catalog.catalog = replace(self.catalog.catalog, tenants=known)
        self.web = Starlette(routes=self._routes())

    def http(self, tenant: str | None = "support") -> httpx2.AsyncClient:
        headers = {} if tenant is None else {"authorization": f"Bearer {key_of(tenant)}"}
        transport = httpx2.ASGITransport(app=self.web, raise_app_exceptions=True)
        return httpx2.AsyncClient(transport=transport, base_url="http://postern", headers=headers)

    def client(self, tenant: str = "support") -> AsyncOpenAI:
        transport = httpx2.ASGITransport(app=self.web)
        return AsyncOpenAI(
            base_url="http://postern/openai/v1",
            api_key=key_of(tenant),
            max_retries=0,
            http_client=httpx2.AsyncClient(transport=transport),
        )

    def _routes(self) -> list[Route]:
        async def create(call: Call) -> Response:
            return await openai.create_batch(call, self.engine)

        async def cancel(call: Call) -> Response:
            return await openai.cancel_batch(call, self.engine)

        table: list[tuple[str, str, Handler, tuple[str, ...]]] = [
            ("POST", "/files", openai.upload_file, ()),
            ("GET", "/files", openai.list_files, LISTED),
            ("GET", "/files/{file_id}", openai.show_file, ()),
            ("DELETE", "/files/{file_id}", openai.delete_file, ()),
            ("GET", "/files/{file_id}/content", openai.file_content, ()),
            ("POST", "/batches", create, ()),
            ("GET", "/batches", openai.list_batches, LISTED[:2]),
            ("GET", "/batches/{batch_id}", openai.show_batch, ()),
            ("POST", "/batches/{batch_id}/cancel", cancel, ()),
            ("GET", "/models", openai.list_models, ()),
            ("GET", "/models/{model}", openai.show_model, ()),
        ]
        return [_route(method, f"/openai/v1{path}", act, takes) for method, path, act, takes in table]


def _route(method: str, path: str, act: Handler, takes: tuple[str, ...]) -> Route:
    async def endpoint(request: Request) -> Response:
        return await openai.openai_answer(request, act, takes)

    return Route(path, endpoint, methods=[method])


def lines_of(texts: Iterable[str], *, model: str = "summarize", **body: Any) -> bytes:
    """A line for each text, named `r-0`, `r-1`, ..."""
    return b"".join(
        msgspec.json.encode(
            {
                "custom_id": f"r-{n}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": model, "messages": [{"role": "user", "content": text}], **body},
            }
        )
        + b"\n"
        for n, text in enumerate(texts)
    )

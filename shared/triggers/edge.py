"""What every HTTP function shares: who is calling, bounded bodies, and problems instead of exceptions."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

import msgspec
from azurefunctions.extensions.http.fastapi import Request, Response
from starlette.requests import ClientDisconnect

from shared.bootstrap import App, application
from shared.domain.catalog import Tenant
from shared.domain.errors import NotFound, PosternError, TryAgainLater
from shared.domain.ids import TenantId
from shared.settings import BadSettings
from shared.triggers.worker_memory import answered
from shared.wire.problems import TooLarge, headers, invalid, printable, problem

log = logging.getLogger(__name__)

MAX_BODY: Final = 32 * 1024 * 1024
SMALL_BODY: Final = 8 * 1024 * 1024
# Each is held in memory until its request is answered.
_large_bodies: Final = asyncio.Semaphore(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One authenticated request."""

    request: Request
    app: App
    tenant: Tenant

    @property
    def base_url(self) -> str:
        """Where links point to: as the client sees us, also behind a front end that ends TLS."""
        scheme = self.request.headers.get("x-forwarded-proto", self.request.url.scheme)
        return f"{scheme}://{self.request.headers.get('host', self.request.url.netloc)}"

    def path(self, name: str) -> str:
        return str(self.request.path_params[name])

    def query(self, name: str) -> str | None:
        return self.request.query_params.get(name) or None

    def number(self, name: str, *, default: int, most: int) -> int:
        """A whole number from 1. Raise `InputErrors` for anything else."""
        text = self.query(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise invalid(name, f"must be a whole number from 1 to {most}")
        return int(text)

    def choice(self, name: str, allowed: tuple[str, ...]) -> str | None:
        text = self.query(name)
        if text is not None and text not in allowed:
            raise invalid(name, f"must be one of {', '.join(allowed)}")
        return text

    async def tenants(self) -> list[TenantId]:
        """Whose records the caller may see: its own, or as an operator everybody's."""
        if not self.tenant.admin:
            return [self.tenant.id]
        return list((await self.app.catalog.current()).tenants)

    async def tenants_asked_for(self) -> list[TenantId]:
        """All that the caller may see, or of them the one in `?tenant=`. Raise `NotFound`."""
        tenants, asked = await self.tenants(), self.query("tenant")
        if asked is None:
            return tenants
        if asked not in tenants:
            raise NotFound(f"no tenant {asked[:64]!r}")
        return [TenantId(asked)]

    async def owner_of(self, job_id: str) -> TenantId:
        """The tenant of a job that the caller may see. Raise `NotFound`."""
        return await self.app.read_job.tenant_of(await self.tenants(), job_id)


Handler = Callable[[Call], Awaitable[Response]]
Refuse = Callable[[Exception], Response]


async def answer(
    request: Request,
    handler: Handler,
    takes: tuple[str, ...] | None = (),
    *,
    refuse: Refuse | None = None,
) -> Response:
    """The handler's answer to an authenticated caller; a problem document for whatever goes wrong.

    `takes` names the query parameters there are; any other is a typo that must not be ignored. None: any.
    `refuse` makes something else of what goes wrong.
    """
    refuse = refuse or refusal
    answered.forget()
    try:
        app = application()
        tenant = await app.authenticate(dict(request.headers))
        _check_parameters(request, takes)
        return await handler(Call(request=request, app=app, tenant=tenant))
    except BadSettings as bad:
        log.error("settings.refused", extra={"why": str(bad)})  # noqa: TRY400  # the text says it all
        return refuse(TryAgainLater("the app is not set up yet; its log names the settings to mend"))
    except ClientDisconnect:
        return Response(status_code=499)
    except PosternError as error:
        if isinstance(error, TryAgainLater):
            # The caller is told to wait; why is for operators.
            log.warning("http.try_again", extra={"route": request.url.path, "why": str(error)})
        return refuse(error)
    except Exception as error:
        # The last stop before the host, which would answer with nothing a client could use.
        log.exception("http.failed", extra={"route": request.url.path})
        return refuse(error)


async def ready() -> Response:
    """Whether the app can work, part by part."""
    answered.forget()
    try:
        health = await application().check_health()
    except BadSettings as bad:
        log.error("settings.refused", extra={"why": str(bad)})  # noqa: TRY400  # the text says it all
        return json_response({"status": "not ready", "checks": {"settings": "failing"}}, status=503)
    return json_response(health.document, status=health.status)


def _check_parameters(request: Request, takes: tuple[str, ...] | None) -> None:
    unknown = [name for name in request.query_params if takes is not None and name not in takes]
    if unknown:
        known = ", ".join(takes or ()) or "none"
        raise invalid(printable(unknown[0]), f"unknown query parameter; this call takes {known}")


def refusal(error: Exception) -> Response:
    status, document = problem(error)
    return json_response(document, status=status, extra=headers(error))


def json_response(value: Any, *, status: int = 200, extra: Mapping[str, str] | None = None) -> Response:
    return Response(
        msgspec.json.encode(value),
        status_code=status,
        headers={"content-type": "application/json", **(extra or {})},
    )


@asynccontextmanager
async def whole_body(request: Request, *, limit: int = MAX_BODY, instead: str) -> AsyncIterator[bytes]:
    """The whole body. Raise `TooLarge` above `limit` bytes, before it is read where its length is told.

    `instead` names the way in that takes more. Let go of the content when the context ends: only a few
    large bodies are in memory at any time.
    """
    length = request.headers.get("content-length", "")
    announced = int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0
    if announced > limit:
        raise _too_large(limit, instead)
    may_be_large = announced > SMALL_BODY or (not length and limit > SMALL_BODY)
    async with _large_bodies if may_be_large else nullcontext():
        yield await _read(request, limit, instead)


async def _read(request: Request, limit: int, instead: str) -> bytes:
    # Handed out as it is, where joined pieces would for a moment take twice the memory.
    content = BytesIO()
    async for piece in request.stream():
        if content.write(piece) and content.tell() > limit:
            raise _too_large(limit, instead)
    return content.getvalue()


def _too_large(limit: int, instead: str) -> TooLarge:
    return TooLarge(f"the body has more than {limit // (1024 * 1024)} MB; {instead}")

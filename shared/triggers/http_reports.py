"""What was spent, what was found, what can be named; and an answer for every path that leads nowhere."""

from datetime import UTC, datetime, timedelta

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import Request, Response

from shared.domain.errors import NotFound
from shared.domain.ids import TenantId
from shared.triggers.edge import Call, answer, json_response
from shared.triggers.openai_edge import refusal_below
from shared.wire.openapi.document import openapi_document
from shared.wire.problems import InputErrors, NotAvailable, invalid
from shared.wire.usage_views import usage_report_csv, usage_report_json
from shared.wire.views import alias_json, finding_json, page_json

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)

WINDOWS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
LONGEST = timedelta(days=366)
MAX_GROUPS = 8
# Days are added to a time: at the ends of the calendar that fails.
YEARS = range(2000, 9000)


@blueprint.route(route="v1/usage", methods=["GET"])
async def report_usage(req: Request) -> Response:
    return await answer(req, _usage, takes=("by", "window", "from", "to", "format", "tenant"))


@blueprint.route(route="v1/findings", methods=["GET"])
async def list_findings(req: Request) -> Response:
    return await answer(req, _findings, takes=("limit",))


@blueprint.route(route="v1/aliases", methods=["GET"])
async def list_aliases(req: Request) -> Response:
    return await answer(req, _aliases)


@blueprint.route(route="v1/openapi.json", methods=["GET"])
async def openapi(req: Request) -> Response:
    async def document(call: Call) -> Response:
        return json_response(openapi_document())

    return await answer(req, document)


@blueprint.route(route="console", methods=["GET"])
async def console(req: Request) -> Response:
    async def show(call: Call) -> Response:
        raise NotAvailable("the console is not available yet")

    return await answer(req, show)


@blueprint.route(route="{*path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def nowhere(req: Request) -> Response:
    async def refuse(call: Call) -> Response:
        raise NotFound(
            "there is nothing under this path and method; GET /v1/openapi.json lists what there is"
        )

    return await answer(req, refuse, takes=None, refuse=refusal_below(req.url.path))


async def _findings(call: Call) -> Response:
    """The newest first; operators also see those that concern no tenant."""
    owners: list[TenantId | None] = list(await call.tenants())
    if call.tenant.admin:
        owners.append(None)
    found = [f for owner in owners async for f in call.app.findings.of(owner)]
    limit = call.number("limit", default=200, most=1000)
    newest = sorted(found, key=lambda f: f.found_at, reverse=True)[:limit]
    return json_response(page_json([finding_json(f) for f in newest], next_cursor=None))


async def _aliases(call: Call) -> Response:
    catalog = await call.app.catalog.current()
    data = [alias_json(alias, catalog) for _, alias in sorted(catalog.aliases.items())]
    return json_response(page_json(data, next_cursor=None))


async def _usage(call: Call) -> Response:
    by = [name for name in (call.query("by") or "project,model").split(",") if name]
    if not 1 <= len(by) <= MAX_GROUPS or len(set(by)) != len(by) or any(len(name) > 64 for name in by):
        raise invalid(
            "by", f"must be 1 to {MAX_GROUPS} different names of tags or columns, separated by commas"
        )
    start, end = _window(call)
    form = call.choice("format", ("json", "csv", "focus")) or "json"
    if form == "focus":
        raise NotAvailable("format=focus is not available yet; use csv")
    rows = await call.app.report_usage(await call.tenants_asked_for(), by, start, end)
    if form == "csv":
        return Response(usage_report_csv(by, rows), media_type="text/csv; charset=utf-8")
    return json_response({"from": _time(start), "to": _time(end), **usage_report_json(rows)})


def _window(call: Call) -> tuple[datetime, datetime]:
    """From `window`, or from `from` and `to`; the last 24 hours when nothing is said."""
    now = call.app.clock.now()
    if call.query("from") is None and call.query("to") is None:
        window = call.choice("window", tuple(WINDOWS)) or "24h"
        # What is booked in this very second belongs to it.
        return now - WINDOWS[window], now + timedelta(seconds=1)
    if call.query("window") is not None:
        raise invalid("window", "give either window, or from and to")
    start, end = _instant(call, "from", now - WINDOWS["24h"]), _instant(call, "to", now)
    if not timedelta(0) < end - start <= LONGEST:
        raise invalid("to", f"must be after from, and at most {LONGEST.days} days")
    return start, end


def _instant(call: Call, name: str, default: datetime) -> datetime:
    text = call.query(name)
    if text is None:
        return default
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise _no_time(name) from None
    if moment.year not in YEARS:
        raise _no_time(name)
    return moment


def _no_time(name: str) -> InputErrors:
    return invalid(name, "must be a time such as 2026-11-30T00:00:00Z")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"

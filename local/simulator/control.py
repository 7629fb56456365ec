"""`/_sim/...`: how tests steer the simulator and look at what it saw."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import msgspec
from aiohttp import web

from local.simulator import identity
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.engine import Engine
from local.simulator.events import Events, read_events
from local.simulator.failures import CallRefused
from local.simulator.files import Files
from local.simulator.journal import Journal
from local.simulator.quotas import Quotas, read_quota
from local.simulator.rulebook import RuleBook
from local.simulator.rules import PROVIDER_NAMES, read_rules
from local.simulator.stage import Call, Operation, Stage

JOURNAL_PAGE = 500
TOPIC_KEYS = ("aeg-sas-key", "aeg-sas-token", "Authorization")

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Move(msgspec.Struct, forbid_unknown_fields=True):
    advance_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    database: Database
    clock: Clock
    files: Files
    rules: RuleBook
    quotas: Quotas
    journal: Journal
    events: Events
    engine: Engine
    stage: Stage

    def routes(self) -> list[web.RouteDef]:
        publish = Operation(name="publish", receive=self._receive_events, perform=self._publish)
        plain: list[tuple[str, str, Handler]] = [
            ("GET", "/health", self._health),
            ("GET", identity.PATH, identity.give_token),
            ("GET", "/rules", self._list_rules),
            ("POST", "/rules", self._add_rules),
            ("DELETE", "/rules", self._clear_rules),
            ("GET", "/quota", self._list_quotas),
            ("POST", "/quota", self._set_quota),
            ("DELETE", "/quota", self._clear_quotas),
            ("GET", "/clock", self._show_clock),
            ("POST", "/clock", self._move_clock),
            ("GET", "/journal", self._list_journal),
            ("DELETE", "/journal", self._clear_journal),
            ("GET", "/events", self._list_events),
            ("DELETE", "/events", self._clear_events),
            # The SDK posts to the topic's address as it is given, which the stack says is this one.
            ("POST", "/events", self.stage.handler("events", publish, refuse, None)),
            ("POST", "/events/publish", self.stage.handler("events", publish, refuse, None)),
        ]
        return [web.route(method, f"/_sim{path}", _answering(handler)) for method, path, handler in plain]

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"status": "ready"})

    async def _list_rules(self, _: web.Request) -> web.Response:
        return web.json_response(self.rules.listing())

    async def _add_rules(self, request: web.Request) -> web.Response:
        self.rules.add(read_rules(await request.read()))
        return web.json_response(self.rules.listing())

    async def _clear_rules(self, _: web.Request) -> web.Response:
        return web.json_response({"removed": self.rules.clear()})

    async def _list_quotas(self, _: web.Request) -> web.Response:
        return web.json_response(self.quotas.listing())

    async def _set_quota(self, request: web.Request) -> web.Response:
        self.quotas.set(read_quota(await request.read()))
        return web.json_response(self.quotas.listing())

    async def _clear_quotas(self, _: web.Request) -> web.Response:
        self.quotas.clear()
        return web.json_response([])

    async def _show_clock(self, _: web.Request) -> web.Response:
        return web.json_response({"now": self.clock.now(), "offset_seconds": self.clock.offset})

    async def _move_clock(self, request: web.Request) -> web.Response:
        try:
            move = msgspec.json.decode(await request.read(), type=Move)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CallRefused(400, "invalid_clock", str(error)) from error
        if move.advance_seconds < 0:
            raise CallRefused(400, "invalid_clock", "the clock only moves forward")
        self.clock.advance(move.advance_seconds)
        self.files.drop_lapsed()
        self.engine.wake_all()
        return await self._show_clock(request)

    async def _list_journal(self, request: web.Request) -> web.StreamResponse:
        """Streamed page by page: a journal may hold hundreds of thousands of calls."""
        query = request.query
        provider = query.get("provider")
        left, after = int(query.get("limit", 10**9)), int(query.get("after", 0))
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b"[")
        separator = b""
        while left > 0 and (
            page := self.journal.page(
                provider=PROVIDER_NAMES.get(provider or "", provider),
                operation=query.get("operation"),
                batch_id=query.get("batch_id"),
                after=after,
                limit=min(left, JOURNAL_PAGE),
            )
        ):
            rows = [b'{"seq":%d,%b' % (number, entry[1:]) for number, entry in page]
            await response.write(separator + b",".join(rows))
            separator, after, left = b",", page[-1][0], left - len(page)
        await response.write(b"]")
        return response

    async def _clear_journal(self, _: web.Request) -> web.Response:
        self.journal.clear()
        return web.json_response({})

    async def _list_events(self, request: web.Request) -> web.Response:
        return web.json_response(self.events.listing(kind=request.query.get("type")))

    async def _clear_events(self, _: web.Request) -> web.Response:
        self.events.clear()
        return web.json_response({})

    async def _receive_events(self, call: Call) -> None:
        if not any(call.request.headers.get(name) for name in TOPIC_KEYS):
            raise CallRefused(401, "Unauthorized", "The request has no aeg-sas-key and no token.")
        content_type = call.request.headers.get("Content-Type", "")
        events = read_events(await call.request.read(), content_type)
        call.request["events"] = events
        call.requests = len(events)
        call.text = "\n".join(f"{event['type']} {event.get('subject', '')}" for event in events)

    async def _publish(self, call: Call) -> web.Response:
        with self.database.transaction():
            self.events.add(call.request["events"])
            self.stage.record(call)
        return web.Response(status=200)


def refuse(refused: CallRefused) -> web.Response:
    error = {"code": refused.code, "message": refused.message}
    return web.json_response({"error": error}, status=refused.status)


def _answering(handler: Handler) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except CallRefused as refused:
            return refuse(refused)

    return handle

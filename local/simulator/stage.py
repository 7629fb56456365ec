"""Where calls are played: received, judged by the rules, carried out, written to the journal, answered."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from local.simulator.contents import FileContents
from local.simulator.database import Database
from local.simulator.dialects.port import BatchDialect
from local.simulator.failures import CallRefused, Json
from local.simulator.journal import Journal
from local.simulator.rulebook import Entry, RuleBook, Taken, fits_provider
from local.simulator.rules import Kind, Match, Then

type WriteError = Callable[[CallRefused], web.Response]


@dataclass(slots=True, kw_only=True)
class Call:
    """One call of a provider's API, filled in while it is received.

    `text` is what a synchronous call says; `input_path` leads to the requests of a call about a file or a
    batch. Both are there for rules with `contains`. `leftover` is removed when the call is over, if it is
    still there.
    """

    request: web.Request
    provider: str
    operation: str
    body: Json | None = None
    model: str | None = None
    batch_id: str | None = None
    file_id: str | None = None
    key: str | None = None
    requests: int | None = None
    text: str | None = None
    input_path: Path | None = None
    endpoint: str | None = None
    taken: Taken | None = None
    leftover: Path | None = None
    is_recorded: bool = False

    @property
    def then(self) -> Then:
        """What the rule for this call says; without a rule, nothing."""
        return self.taken.then if self.taken else NOTHING

    @property
    def prevents_effect(self) -> bool:
        then = self.then
        answers = then.status is not None or then.body is not None
        return then.drop == "before" or (answers and not then.applied)


NOTHING = Then()
type Receive = Callable[[Call], Awaitable[None]]
type Perform = Callable[[Call], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """`receive` reads the call and finds what it is about; `perform` has the effect and answers."""

    name: str
    receive: Receive
    perform: Perform


class Stage:
    def __init__(
        self, *, database: Database, journal: Journal, rules: RuleBook, contents: FileContents
    ) -> None:
        self._database = database
        self._journal = journal
        self._rules = rules
        self._contents = contents

    def handler(
        self, provider: str, operation: Operation, write_error: WriteError, dialect: BatchDialect | None
    ) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """An aiohttp handler that plays the operation."""

        async def handle(request: web.Request) -> web.StreamResponse:
            call = Call(request=request, provider=provider, operation=operation.name)
            try:
                await operation.receive(call)
                call.taken = await self.take(Kind.OPERATION, call, dialect)
                response = await self._play(call, operation)
            except CallRefused as refused:
                response = write_error(refused)
            finally:
                if call.leftover:
                    call.leftover.unlink(missing_ok=True)
            self.record(call)
            return await self._send(call, response)

        return handle

    async def _play(self, call: Call, operation: Operation) -> web.StreamResponse:
        if not call.prevents_effect:
            response = await operation.perform(call)
            if call.then.status is None:
                response.headers.update(call.then.headers or {})
                return response
        return written_by_rule(call.then)

    async def _send(self, call: Call, response: web.StreamResponse) -> web.StreamResponse:
        """Answer after the delay, or cut the connection. The effect, if any, is there already."""
        await self.wait(call.then.delay_ms)
        if call.then.drop:
            cut(call.request)
        return response

    async def wait(self, delay_ms: int | None) -> None:
        if delay_ms:
            await asyncio.sleep(delay_ms / 1000)

    def record(self, call: Call) -> None:
        """Write the call down, once; inside a transaction it stands or falls with the effect."""
        if call.is_recorded:
            return
        with self._database.transaction():
            if call.taken:
                self._rules.keep(Counter([call.taken.rule_id]))
            self._journal.add(_entry(call))
        call.is_recorded = True

    async def take(self, kind: Kind, call: Call, dialect: BatchDialect | None) -> Taken | None:
        """The first rule of the kind that fits the call, used once."""
        for entry in self._rules.of_kind(kind):
            if await self._fits(entry, call, dialect) and (taken := self._rules.take(entry)):
                return taken
        return None

    async def _fits(self, entry: Entry, call: Call, dialect: BatchDialect | None) -> bool:
        match = entry.rule.match
        if match.operation not in {None, call.operation}:
            return False
        if match.model is not None and call.model is None:
            return False
        if not fits_provider(match, call.provider, call.model):
            return False
        if match.key is not None and match.key != call.key:
            return False
        if match.contains is None and match.custom_id is None:
            return True
        return await self._mentions(match, call, dialect)

    async def _mentions(self, match: Match, call: Call, dialect: BatchDialect | None) -> bool:
        if call.text is not None:
            return match.custom_id is None and match.contains is not None and match.contains in call.text
        path, endpoint = call.input_path, call.endpoint
        if path is None or dialect is None or not path.exists():
            return False
        return await asyncio.to_thread(self._contents.holds, path, match, dialect, endpoint)


def _entry(call: Call) -> Json:
    headers, then = call.request.headers, call.then
    return {
        "provider": call.provider,
        "operation": call.operation,
        "batch_id": call.batch_id,
        "key": call.key,
        "requests": call.requests,
        "file_id": call.file_id,
        "model": call.model,
        "method": call.request.method,
        "path": call.request.path,
        "tenant": headers.get("x-tenant-id"),
        "correlation_id": headers.get("x-correlation-id"),
        "retry": headers.get("x-stainless-retry-count"),
        "rule": call.taken.rule_id if call.taken else None,
        "drop": then.drop,
    }


def written_by_rule(then: Then) -> web.Response:
    """The answer that a rule gives in place of the operation's own."""
    status = then.status or 200
    if isinstance(then.body, str):
        return web.Response(status=status, headers=then.headers, text=then.body)
    body = then.body
    if body is None:
        error = {"message": f"Simulated error {status}.", "type": "simulated", "param": None, "code": None}
        body = {"error": error} if status >= 400 else {}
    return web.json_response(body, status=status, headers=then.headers)


def cut(request: web.Request) -> None:
    """Reset the connection: the caller sees neither status nor body."""
    if request.transport is not None:
        request.transport.abort()

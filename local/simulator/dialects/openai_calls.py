"""The synchronous calls of OpenAI and Azure OpenAI: chat completions, responses, embeddings."""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Protocol

from aiohttp import web

from local.simulator import play
from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects import openai_bodies
from local.simulator.dialects.openai_batches import read_json
from local.simulator.dialects.port import BatchDialect, Line, RowNames
from local.simulator.failures import CallRefused, Json, LineRefused
from local.simulator.rulebook import RuleBook, Taken, fits_request
from local.simulator.rules import Kind
from local.simulator.stage import Call, Operation, Stage, cut

PATHS = {
    "/chat/completions": openai_bodies.CHAT,
    "/responses": openai_bodies.RESPONSES,
    "/embeddings": openai_bodies.EMBEDDINGS,
}


class CallDialect(BatchDialect, Protocol):
    """A dialect that also answers at once."""

    def question_of(self, body: Json, endpoint: str) -> Question:
        """Raises `LineRefused` where the provider would answer 400."""
        ...


class ModelRoutes:
    """Answers at once, unless a rule says otherwise."""

    def __init__(
        self, *, dialect: CallDialect, database: Database, clock: Clock, rules: RuleBook, stage: Stage
    ) -> None:
        self._dialect = dialect
        self._database = database
        self._clock = clock
        self._rules = rules
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        return [("POST", path, self._operation(endpoint)) for path, endpoint in PATHS.items()]

    def _operation(self, endpoint: str) -> Operation:
        name = "embeddings" if endpoint == openai_bodies.EMBEDDINGS else "chat"
        return Operation(name=name, receive=self._receiving(endpoint), perform=self._answer)

    def _receiving(self, endpoint: str) -> Callable[[Call], Awaitable[None]]:
        async def receive(call: Call) -> None:
            call.endpoint, call.requests = endpoint, 1
            body = call.body = await read_json(call.request)
            call.model = call.request.match_info.get("deployment") or body.get("model")
            call.request["line"] = line = self._line(call, body, endpoint)
            call.text = line.question.everything

        return receive

    def _line(self, call: Call, body: Json, endpoint: str) -> Line:
        if not isinstance(call.model, str) or not call.model:
            raise CallRefused(400, None, "you must provide a model parameter", param="model")
        if body.get("stream"):
            raise CallRefused(400, "unsupported_value", "The simulator does not stream.", param="stream")
        try:
            question = self._dialect.question_of({**body, "model": call.model}, endpoint)
        except LineRefused as error:
            raise CallRefused(400, error.code, error.message, param=error.param) from error
        return Line(custom_id="", model=call.model, question=question)

    async def _answer(self, call: Call) -> web.StreamResponse:
        line: Line = call.request["line"]
        taken = self._request_rule(call, line)
        then = taken.then if taken else None
        if taken:
            with self._database.transaction():
                self._rules.keep(Counter([taken.rule_id]))
                self._stage.record(call)
        response = self._written(call, line, taken)
        if then:
            response.headers.update(then.headers or {})
            await self._stage.wait(then.delay_ms)
        if then and then.outcome == "missing":
            cut(call.request)
        return response

    def _request_rule(self, call: Call, line: Line) -> Taken | None:
        for entry in self._rules.of_kind(Kind.REQUEST):
            if fits_request(
                entry.rule.match,
                provider=self._dialect.name,
                operation=call.operation,
                model=line.model,
                custom_id=None,
                text=call.text or "",
            ) and (taken := self._rules.take(entry)):
                return taken
        return None

    def _written(self, call: Call, line: Line, taken: Taken | None) -> web.Response:
        then = taken.then if taken else None
        verdict = play.verdict(line, then, filter_is_error=self._dialect.filter_is_error)
        request_id = secrets.token_hex(16)
        headers = {"x-request-id": request_id, "apim-request-id": request_id}
        match verdict:
            case Reply():
                body = self._body(call, line, verdict, request_id)
                if then and then.outcome == "malformed":
                    return play_broken(body, headers)
                return web.json_response(body, headers=headers)
            case Failure():
                shown = self._dialect.failure_body(verdict)
                return web.json_response(shown, status=verdict.status, headers=headers)
            case Unrun():
                failure = Failure(status=408, code="request_timeout", message="The request timed out.")
                shown = self._dialect.failure_body(failure)
                return web.json_response(shown, status=408, headers=headers)

    def _body(self, call: Call, line: Line, reply: Reply, request_id: str) -> Json:
        endpoint = call.endpoint or openai_bodies.CHAT
        names = RowNames(row=request_id, request=request_id, created=int(self._clock.now()))
        body = self._dialect.reply_body(line.model, names, reply, endpoint)
        packed = endpoint == openai_bodies.EMBEDDINGS and (call.body or {}).get("encoding_format") == "base64"
        return openai_bodies.with_base64(body) if packed else body


def play_broken(body: Json, headers: dict[str, str]) -> web.Response:
    """The first two thirds of the answer, as if that were all."""
    whole = web.json_response(body).text or ""
    return web.Response(text=whole[: len(whole) * 2 // 3], content_type="application/json", headers=headers)

"""Anthropic below `/anthropic/v1`: Messages and Message Batches. The SDK's base URL is `/anthropic`."""

import secrets

from aiohttp import web

from local.simulator.dialects import anthropic_bodies
from local.simulator.dialects.anthropic_batches import AnthropicBatches
from local.simulator.dialects.anthropic_lines import AnthropicLines
from local.simulator.dialects.mounting import Parts, mounted
from local.simulator.dialects.openai_batches import read_json
from local.simulator.dialects.openai_calls import ModelRoutes
from local.simulator.dialects.port import Line
from local.simulator.failures import CallRefused, LineRefused
from local.simulator.stage import Call, Operation

PREFIX = "/anthropic/v1"


class Messages(ModelRoutes):
    """The synchronous call."""

    def routes(self) -> list[tuple[str, str, Operation]]:
        return [("POST", "/messages", Operation(name="chat", receive=self._receive, perform=self._answer))]

    async def _receive(self, call: Call) -> None:
        call.endpoint = call.request.headers.get("anthropic-version") or anthropic_bodies.NEWEST
        body = call.body = await read_json(call.request)
        call.requests, call.model = 1, str(body.get("model") or "")
        try:
            question = anthropic_bodies.question_of(body, call.endpoint)
        except LineRefused as error:
            raise CallRefused(400, error.code, error.message, param=error.param) from error
        call.request["line"] = Line(custom_id="", model=call.model, question=question)
        call.text = question.everything


def routes(parts: Parts) -> list[web.RouteDef]:
    dialect = AnthropicLines()
    messages = Messages(
        dialect=dialect,
        database=parts.database,
        clock=parts.clock,
        rules=parts.rules,
        stage=parts.stage,
    )
    operations = AnthropicBatches(parts=parts, dialect=dialect).routes() + messages.routes()
    return mounted(PREFIX, operations, parts, dialect, refuse)


def refuse(refused: CallRefused) -> web.Response:
    body = refused.body or anthropic_bodies.error_of(refused.status, refused.code, refused.message)
    headers = {"request-id": f"req_{secrets.token_hex(12)}"}
    return web.json_response(body, status=refused.status, headers=headers)

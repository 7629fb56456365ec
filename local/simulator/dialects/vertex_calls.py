"""The synchronous call of Vertex AI: `generateContent`."""

import secrets

from aiohttp import web

from local.simulator import play
from local.simulator.answers.replies import Failure
from local.simulator.dialects import vertex_bodies
from local.simulator.dialects.openai_batches import read_json
from local.simulator.dialects.openai_calls import ModelRoutes
from local.simulator.dialects.port import Line, RowNames
from local.simulator.dialects.vertex_jobs import PARENT
from local.simulator.failures import CallRefused, LineRefused
from local.simulator.rulebook import Taken
from local.simulator.stage import Call, Operation

# Vertex AI's, and the Gemini Developer API's.
PATH = PARENT + "/publishers/google/models/{model:[^/:]+}:generateContent"
DEVELOPER_PATH = "/{version:v1|v1beta}/models/{model:[^/:]+}:generateContent"


class GeminiRoutes(ModelRoutes):
    """Answers at once, unless a rule says otherwise."""

    def routes(self) -> list[tuple[str, str, Operation]]:
        operation = Operation(name="chat", receive=self._receive, perform=self._answer)
        return [("POST", PATH, operation), ("POST", DEVELOPER_PATH, operation)]

    async def _receive(self, call: Call) -> None:
        body = call.body = await read_json(call.request)
        call.model = call.endpoint = model = call.request.match_info["model"]
        call.requests = 1
        try:
            question = self._dialect.question_of(body, model)
        except LineRefused as error:
            raise CallRefused(400, error.code, error.message) from error
        call.request["line"] = Line(custom_id="", model=model, question=question)
        call.text = question.everything

    def _written(self, call: Call, line: Line, taken: Taken | None) -> web.Response:
        """A blocked prompt is no error here: it is an answer without candidates."""
        verdict = play.verdict(line, taken.then if taken else None, filter_is_error=False)
        if not (isinstance(verdict, Failure) and verdict.is_filter):
            return super()._written(call, line, taken)
        name = secrets.token_hex(16)
        names = RowNames(row=name, request=name, created=int(self._clock.now()))
        return web.json_response(
            vertex_bodies.blocked_body(line.model, names, line.question, verdict.message)
        )

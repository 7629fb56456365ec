"""Anthropic's batch requests, kept one a line, and the rows of its results."""

import re

import msgspec

from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun, Verdict
from local.simulator.dialects import anthropic_bodies
from local.simulator.dialects.openai_lines import OpenAILines
from local.simulator.dialects.port import Line, RowNames
from local.simulator.failures import Json, LineRefused

CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
UNRUN = {"expired": "expired", "cancelled": "canceled"}


class AnthropicLines(OpenAILines):
    """A batch's `endpoint` is the version its create was sent with: it decides what a request may hold."""

    name = "anthropic"
    max_lines = 100_000
    output_seconds = None
    errors_apart = False
    # Empty: requests of one batch may differ in their models.
    codes = {  # noqa: RUF012  read-only by convention
        "model": "",
        "duplicate": anthropic_bodies.INVALID,
        "lines": anthropic_bodies.INVALID,
        "empty": anthropic_bodies.INVALID,
    }

    def read_line(self, raw: bytes, endpoint: str | None) -> Line:
        line = self._object(raw)
        custom_id, params = line.get("custom_id"), line.get("params")
        if not isinstance(custom_id, str) or not CUSTOM_ID.fullmatch(custom_id):
            raise LineRefused(
                anthropic_bodies.INVALID,
                "custom_id: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'",
                param="custom_id",
            )
        if not isinstance(params, dict):
            raise LineRefused(anthropic_bodies.INVALID, "params: Field required", param="params")
        model = str(params.get("model", ""))
        try:
            question = anthropic_bodies.question_of(params, endpoint or anthropic_bodies.NEWEST)
        except LineRefused as error:
            # Only the envelope is checked at create: the request is run, and errs.
            fault = Failure(status=400, code=error.code, message=error.message)
            return Line(custom_id=custom_id, model=model, question=Question(), fault=fault)
        return Line(custom_id=custom_id, model=model, question=question)

    def _object(self, raw: bytes) -> Json:
        try:
            line = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise LineRefused(anthropic_bodies.INVALID, "The request body is not valid JSON") from error
        if not isinstance(line, dict):
            raise LineRefused(anthropic_bodies.INVALID, "requests: Input should be a valid dictionary")
        return line

    def row(self, line: Line, names: RowNames, verdict: Verdict, endpoint: str) -> Json:
        match verdict:
            case Reply():
                message = anthropic_bodies.message_of(line.model, names, verdict, tier="batch")
                result: Json = {"type": "succeeded", "message": message}
            case Failure():
                result = {"type": "errored", "error": self.failure_body(verdict)}
            case Unrun():
                result = {"type": UNRUN[verdict.why]}
        return {"custom_id": line.custom_id, "result": result}

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        return anthropic_bodies.message_of(model, names, reply, tier="standard")

    def failure_body(self, failure: Failure) -> object:
        return anthropic_bodies.failure_of(failure)

"""Mistral's batch lines: a body without a model, and rows whose errors are JSON inside a string."""

import msgspec

from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun, Verdict
from local.simulator.dialects import mistral_bodies
from local.simulator.dialects.openai_lines import OpenAILines
from local.simulator.dialects.port import Line, RowNames
from local.simulator.failures import Json, LineRefused


class MistralLines(OpenAILines):
    """Neither uniqueness nor presence of `custom_id` is enforced. Lines that were not run have no row."""

    name = "mistral"
    max_lines = 1_000_000
    expires = True
    output_seconds = None
    errors_apart = True
    filter_is_error = True
    writes_cancelled_rows = False
    keeps_empty_files = False
    endpoints = mistral_bodies.ENDPOINTS
    codes = {"model": "", "duplicate": "", "lines": "too_many_requests", "empty": "empty"}  # noqa: RUF012

    def read_line(self, raw: bytes, endpoint: str | None) -> Line:
        line = checked_line(raw)
        body: Json = line["body"]
        fault: Failure | None = None
        try:
            question = self.question_of(body, endpoint or endpoint_of(body))
        except LineRefused as error:
            question = Question()
            fault = Failure(status=422, code=error.code, message=error.param or "body")
        custom_id = line.get("custom_id")
        # Whatever model the body names, the job's is asked.
        return Line(custom_id=custom_id or "", model="", question=question, fault=fault)

    def question_of(self, body: Json, endpoint: str) -> Question:
        return mistral_bodies.question_of(body, endpoint)

    def row(self, line: Line, names: RowNames, verdict: Verdict, endpoint: str) -> Json:
        response: Json = {}
        match verdict:
            case Reply():
                response = {
                    "status_code": 200,
                    "body": self.reply_body(line.model, names, verdict, endpoint),
                }
            case Failure():
                body = msgspec.json.encode(self.failure_body(verdict)).decode()
                response = {"status_code": verdict.status, "body": body}
            case Unrun():
                return {}
        name = f"batch-{names.request[:8]}-{names.row}"
        return {"id": name, "custom_id": line.custom_id or None, "response": response, "error": None}

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        return mistral_bodies.body_of(model, names, reply, endpoint)

    def failure_body(self, failure: Failure) -> object:
        return mistral_bodies.failure_body(failure)


def checked_line(raw: bytes) -> Json:
    """The line as an object that has a body. Raises `LineRefused` for anything else."""
    try:
        line = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise mistral_bodies.complaint("dict_type", "") from error
    if not isinstance(line, dict):
        raise mistral_bodies.complaint("dict_type", "")
    if not isinstance(line.get("body"), dict):
        raise mistral_bodies.complaint("missing", "body")
    return line


def endpoint_of(body: Json) -> str:
    """An upload does not say what it is for; its lines do."""
    return mistral_bodies.EMBEDDINGS if "input" in body else mistral_bodies.CHAT

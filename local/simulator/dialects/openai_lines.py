"""OpenAI's batch lines: reading requests, writing rows."""

import msgspec

from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun, Verdict
from local.simulator.dialects import openai_bodies
from local.simulator.dialects.port import Line, RowNames
from local.simulator.failures import Json, LineRefused

UNRUN_MESSAGES = {
    "expired": "This request could not be executed before the completion window expired.",
    "cancelled": "This request was not executed because the batch was cancelled.",
}


class OpenAILines:
    """The OpenAI dialect of `BatchDialect`; Azure's is a variation of it."""

    name = "openai"
    max_lines = 50_000
    expires = True
    output_seconds: int | None = 2_592_000
    errors_apart = True
    filter_is_error = False
    writes_cancelled_rows = True
    keeps_empty_files = False
    endpoints: tuple[str, ...] = openai_bodies.ENDPOINTS
    codes = {  # noqa: RUF012  read-only by convention, replaced in a subclass
        "url": "invalid_url",
        "model": "mismatched_model",
        "duplicate": "duplicate_custom_id",
        "lines": "invalid_request",
        "empty": "invalid_request",
        "json": "invalid_json_line",
        "body": "invalid_request",
    }

    def fault_code(self, meaning: str) -> str:
        return self.codes[meaning]

    def read_line(self, raw: bytes, endpoint: str | None) -> Line:
        try:
            line = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise LineRefused(self.codes["json"], "This line is not parseable as valid JSON.") from error
        if not isinstance(line, dict):
            raise LineRefused(self.codes["json"], "Each line must be a JSON object.")
        endpoint = endpoint or self.canonical(str(line.get("url")))
        custom_id, body = self._checked(line, endpoint)
        model = body.get("model")
        if not isinstance(model, str) or not model:
            raise LineRefused(self.codes["body"], "You must provide a model in the body.", param="body.model")
        if body.get("stream"):
            raise LineRefused(
                "streaming_unsupported", "Streaming is not supported in batch.", param="body.stream"
            )
        try:
            question = self.question_of(body, endpoint)
        except LineRefused as error:
            # Validation of the file does not look this deep: the line is run, and answered 400.
            fault = Failure(status=400, code=error.code, message=error.message)
            return Line(custom_id=custom_id, model=model, question=Question(), fault=fault)
        return Line(custom_id=custom_id, model=model, question=question)

    def question_of(self, body: Json, endpoint: str) -> Question:
        """Raises `LineRefused` where the provider would answer 400."""
        return openai_bodies.question_of(body, endpoint)

    def _checked(self, line: Json, endpoint: str) -> tuple[str, Json]:
        custom_id, body = line.get("custom_id"), line.get("body")
        if not isinstance(custom_id, str) or not custom_id:
            raise LineRefused(
                "missing_required_parameter", "Missing required parameter: 'custom_id'.", param="custom_id"
            )
        if line.get("method") != "POST":
            raise LineRefused(self.codes["body"], "The method must be POST.", param="method")
        if self.canonical(str(line.get("url"))) != endpoint:
            raise LineRefused(
                self.codes["url"], f"The URL provided for this line does not match {endpoint}.", param="url"
            )
        if not isinstance(body, dict):
            raise LineRefused(self.codes["body"], "The body must be a JSON object.", param="body")
        return custom_id, body

    def canonical(self, url: str) -> str:
        """The endpoint a URL names."""
        return url

    def row(self, line: Line, names: RowNames, verdict: Verdict, endpoint: str) -> Json:
        response: Json | None = None
        error: Json | None = None
        match verdict:
            case Reply():
                body: object = self.reply_body(line.model, names, verdict, endpoint)
                response = {"status_code": 200, "request_id": names.request, "body": body}
            case Failure():
                body = self.failure_body(verdict)
                response = {"status_code": verdict.status, "request_id": names.request, "body": body}
            case Unrun():
                error = {"code": f"batch_{verdict.why}", "message": UNRUN_MESSAGES[verdict.why]}
        return {"id": names.row, "custom_id": line.custom_id, "response": response, "error": error}

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        return openai_bodies.body_of(model, names, reply, endpoint)

    def failure_body(self, failure: Failure) -> object:
        if failure.body is not None:
            return failure.body
        return error_body(failure.status, failure.code, failure.message)


def error_body(status: int, code: str | None, message: str, param: str | None = None) -> Json:
    """The envelope of every error over HTTP."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    if status == 429:
        kind = "rate_limit_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}

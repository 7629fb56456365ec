"""Vertex AI's batch lines. A job's endpoint is its model: no line names one."""

import re
from collections.abc import Iterator
from hashlib import blake2b
from http import HTTPStatus

import msgspec

from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Unrun, Verdict
from local.simulator.dialects import vertex_bodies
from local.simulator.dialects.port import Line, RowNames
from local.simulator.failures import Json, LineRefused

# The import step's code for input that it cannot take in: INVALID_ARGUMENT of gRPC.
IMPORT_FAILED = "3"
MAX_DEPTH = 15
NUMERIC = re.compile(r"[+-]?\d+(?:\.\d+)?")
COLUMN = re.compile(r"\w[\w -]*")
NO_QUESTION = Question(messages=0)


class VertexLines:
    """The Vertex dialect of `BatchDialect`."""

    name = "vertex"
    max_lines = 200_000
    expires = True
    output_seconds: int | None = None
    errors_apart = False
    filter_is_error = False
    writes_cancelled_rows = False
    keeps_empty_files = False

    def fault_code(self, meaning: str) -> str:
        return IMPORT_FAILED

    def read_line(self, raw: bytes, endpoint: str | None) -> Line:
        """As the import step reads it, which is a load into a table: one bad line fails the whole job."""
        try:
            line = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise LineRefused(IMPORT_FAILED, f"Error while reading data: {error}") from error
        request = line.get("request") if isinstance(line, dict) else None
        if not isinstance(request, dict):
            raise LineRefused(IMPORT_FAILED, "Required field request is missing.")
        for complaint in complaints(request, depth=1):
            raise LineRefused(IMPORT_FAILED, f"Error while reading data: {complaint}")
        model = (endpoint or "").rpartition("/")[2]
        try:
            question = self.question_of(request, model)
        except LineRefused as error:
            failure = Failure(status=400, code=error.code, message=error.message)
            return Line(
                custom_id=_name_of(line, raw),
                model=model,
                question=NO_QUESTION,
                fault=failure,
                request=request,
            )
        return Line(custom_id=_name_of(line, raw), model=model, question=question, request=request)

    def question_of(self, body: Json, endpoint: str) -> Question:
        """Raises `LineRefused` where the service would answer 400. The endpoint names the model."""
        return vertex_bodies.question_of(body, endpoint.rpartition("/")[2])

    def row(self, line: Line, names: RowNames, verdict: Verdict, endpoint: str) -> Json:
        """Nothing is written of a line that was never run."""
        row: Json = {
            "custom_id": coerced(line.custom_id),
            "status": "",
            "processed_time": vertex_bodies.rfc3339(names.created).replace("Z", "+00:00"),
            "request": line.request,
        }
        match verdict:
            case Reply():
                return {**row, "response": vertex_bodies.body_of(line.model, names, verdict)}
            case Failure(is_filter=True):
                blocked = vertex_bodies.blocked_body(line.model, names, line.question, verdict.message)
                return {**row, "response": blocked}
            case Failure():
                return {**row, "status": _status(verdict), "response": {}}
            case Unrun():
                return {}

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        return vertex_bodies.body_of(model, names, reply)

    def failure_body(self, failure: Failure) -> object:
        return vertex_bodies.failure_body(failure)


def _name_of(line: Json, raw: bytes) -> str:
    """Lines need no name; those that have none must not be taken for doubles."""
    name = line.get("custom_id")
    return name if isinstance(name, str) else f"unnamed-{blake2b(raw, digest_size=16).hexdigest()}"


def _status(failure: Failure) -> str:
    told = msgspec.json.encode(vertex_bodies.failure_body(failure)).decode()
    return f"{HTTPStatus(failure.status).phrase}: {told}"


def coerced(name: str) -> str | int | float:
    """What the table makes of a name that looks like a number."""
    if not NUMERIC.fullmatch(name):
        return name
    return float(name) if "." in name else int(name)


def complaints(value: object, *, depth: int) -> Iterator[str]:
    """What the import step cannot take: nesting, objects without fields, names that are no columns."""
    if depth > MAX_DEPTH:
        yield f"nested deeper than {MAX_DEPTH} levels"
    elif isinstance(value, dict):
        if not value:
            yield "an object has no fields"
        for name, inner in value.items():
            if not COLUMN.fullmatch(name):
                yield f"invalid field name {name!r}"
            yield from complaints(inner, depth=depth + 1)
    elif isinstance(value, list):
        kinds = {float if isinstance(inner, int | float) else type(inner) for inner in value}
        if len(kinds) > 1:
            yield "an array holds values of different types"
        for inner in value:
            yield from complaints(inner, depth=depth)

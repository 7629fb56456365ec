"""Mistral's batch jobs API."""

from dataclasses import replace
from datetime import datetime
from uuid import uuid4

import msgspec
from aiohttp import web

from local.simulator.admission import Admission
from local.simulator.batches import Batch, Batches, Status
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.mistral_lines import MistralLines
from local.simulator.dialects.openai_batches import read_json
from local.simulator.dialects.openai_files import limit_of
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files, StoredFile
from local.simulator.stage import Call, Operation, Stage

HOUR = 3600
MOST_HOURS = 168
DEFAULT_HOURS = 24
MOST_INLINE = 10_000
STATES = {
    Status.VALIDATING: "QUEUED",
    Status.IN_PROGRESS: "RUNNING",
    Status.FINALIZING: "RUNNING",
    Status.COMPLETED: "SUCCESS",
    Status.FAILED: "FAILED",
    Status.EXPIRED: "TIMEOUT_EXCEEDED",
    Status.CANCELLING: "CANCELLATION_REQUESTED",
    Status.CANCELLED: "CANCELLED",
}
# What a list takes; any other name is a pair of the metadata looked for.
LIST_FIELDS = frozenset(
    {"page", "page_size", "model", "agent_id", "created_after", "created_by_me", "status", "order_by"}
)


class JobRoutes:
    def __init__(
        self,
        *,
        dialect: MistralLines,
        database: Database,
        files: Files,
        batches: Batches,
        clock: Clock,
        admission: Admission,
        engine: Engine,
        stage: Stage,
    ) -> None:
        self._dialect = dialect
        self._database = database
        self._files = files
        self._batches = batches
        self._clock = clock
        self._admission = admission
        self._engine = engine
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        find, one = self._find, "/batch/jobs/{id}"
        return [
            ("POST", "/batch/jobs", Operation(name="create", receive=self._receive, perform=self._create)),
            ("GET", "/batch/jobs", Operation(name="list", receive=self._expect, perform=self._list)),
            ("GET", one, Operation(name="retrieve", receive=find, perform=self._retrieve)),
            ("POST", f"{one}/cancel", Operation(name="cancel", receive=find, perform=self._cancel)),
            ("DELETE", one, Operation(name="delete", receive=find, perform=self._delete)),
        ]

    # Create

    async def _receive(self, call: Call) -> None:
        body = call.body = await read_json(call.request)
        endpoint, model = body.get("endpoint"), body.get("model")
        hours = body.get("timeout_hours", DEFAULT_HOURS)
        if endpoint not in self._dialect.endpoints:
            raise _invalid("endpoint", "enum", "Input should be an endpoint that takes batches")
        if not isinstance(model, str) or not model:
            raise _invalid("model", "missing", "Field required")
        if not isinstance(hours, int) or not 1 <= hours <= MOST_HOURS:
            raise _invalid("timeout_hours", "less_than_equal", f"Input should be from 1 to {MOST_HOURS}")
        file = self._input(call, body)
        now = self._clock.now()
        batch = Batch(
            id=str(uuid4()),
            provider=self._dialect.name,
            endpoint=endpoint,
            input_file_id=file.id,
            created_at=now,
            expires_at=int(now) + hours * HOUR,
            metadata=_metadata(body.get("metadata")),
            model=model,
        )
        call.key, call.model, call.endpoint = batch.key, model, endpoint
        call.file_id, call.requests = file.id, file.lines
        call.request["wish"], call.request["file"] = batch, file

    def _input(self, call: Call, body: Json) -> StoredFile:
        """The file named, or one made of the requests that came with the call."""
        if requests := body.get("requests"):
            return self._written(call, requests)
        given = body.get("input_files")
        if not isinstance(given, list) or len(given) != 1 or not isinstance(given[0], str):
            raise _invalid("input_files", "missing", "Give one input file, or requests")
        file = self._files.get(self._dialect.name, given[0])
        if file is None or file.purpose != "batch":
            raise CallRefused(404, "not_found", f"No batch input file found with id {given[0]}")
        call.input_path = self._files.path(file.id)
        return file

    def _written(self, call: Call, requests: object) -> StoredFile:
        if not isinstance(requests, list) or len(requests) >= MOST_INLINE:
            raise _invalid("requests", "too_long", f"Input should be fewer than {MOST_INLINE} requests")
        content = b"".join(msgspec.json.encode(request) + b"\n" for request in requests)
        call.leftover = call.input_path = self._files.incoming()
        call.leftover.write_bytes(content)
        return StoredFile(
            id=str(uuid4()),
            provider=self._dialect.name,
            purpose="batch",
            filename="inline.jsonl",
            bytes=len(content),
            lines=len(requests),
            created_at=int(self._clock.now()),
        )

    async def _create(self, call: Call) -> web.Response:
        file: StoredFile = call.request["file"]
        if call.leftover:
            call.leftover.rename(self._files.path(file.id))
            self._files.add(file)
        batch = await self._admission.admit(call, call.request["wish"], self._dialect)
        return web.json_response(job_object(batch))

    # The others

    async def _expect(self, call: Call) -> None:
        """A list is about nothing in particular."""

    async def _find(self, call: Call) -> None:
        call.batch_id = call.request.match_info["id"]
        batch = self._batches.get(self._dialect.name, call.batch_id)
        if batch is None:
            raise CallRefused(404, "not_found", f"Batch job {call.batch_id} not found")
        call.request["batch"] = batch
        call.key, call.model, call.requests = batch.key, batch.model, batch.total or None
        call.input_path, call.endpoint = self._files.path(batch.input_file_id), batch.endpoint

    async def _retrieve(self, call: Call) -> web.Response:
        batch = self._batches.load(call.request["batch"].id)
        shown = job_object(batch)
        if call.request.query.get("inline") == "true" and batch.output_file_id:
            rows = self._files.path(batch.output_file_id).read_bytes().split(b"\n")
            shown["outputs"] = [msgspec.json.decode(row) for row in rows if row]
        return web.json_response(shown)

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        size = limit_of(query.get("page_size"), most=1000, default=100)
        page = limit_of(query.get("page"), most=1_000_000, default=0, least=0)
        found = [
            batch
            for batch in self._batches.page(self._dialect.name, after=None, limit=1_000_000).items
            if _fits(batch, call.request)
        ]
        if query.get("order_by") == "created":
            found.reverse()
        shown = [job_object(batch) for batch in found[page * size : (page + 1) * size]]
        return web.json_response({"total": len(found), "data": shown, "object": "list"})

    async def _delete(self, call: Call) -> web.Response:
        batch = self._batches.load(call.request["batch"].id)
        if not batch.status.is_terminal:
            raise CallRefused(400, "invalid_request_error", f"Job is still {STATES[batch.status]}")
        self._batches.remove(batch)
        return web.json_response({"id": batch.id, "object": "batch", "deleted": True})

    async def _cancel(self, call: Call) -> web.Response:
        batch = self._batches.load(call.request["batch"].id)
        if batch.status.is_terminal:
            raise CallRefused(400, "invalid_request_error", f"Job is already {STATES[batch.status]}")
        entered = {**batch.entered, "cancelling_at": int(self._clock.now())}
        batch = replace(
            batch, status=Status.CANCELLING, ending=batch.ending or Status.CANCELLED, entered=entered
        )
        with self._database.transaction():
            self._batches.save(batch)
            self._stage.record(call)
        self._engine.wake(batch.id)
        return web.json_response(job_object(batch))


def _fits(batch: Batch, request: web.Request) -> bool:
    query = request.query
    pairs = {name: value for name, value in query.items() if name not in LIST_FIELDS}
    wanted = query.getall("status", [])
    after = query.get("created_after")
    metadata = batch.metadata or {}
    return (
        query.get("model") in {None, batch.model}
        and (not wanted or STATES[batch.status] in wanted)
        and (after is None or batch.created_at > datetime.fromisoformat(after).timestamp())
        and all(metadata.get(name) == value for name, value in pairs.items())
    )


def _metadata(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise _invalid("metadata", "dict_type", "Input should be a valid dictionary of strings")
    return given


def _invalid(field: str, kind: str, message: str) -> CallRefused:
    detail = [{"type": kind, "loc": ["body", field], "msg": message}]
    return CallRefused(422, kind, message, body={"detail": detail})


def job_object(batch: Batch) -> Json:
    """Every key is there, whatever the state. `completed_requests` counts the failed ones too."""
    ended = batch.entered.get(f"{batch.status}_at") if batch.status.is_terminal else None
    return {
        "id": batch.id,
        "object": "batch",
        "input_files": [batch.input_file_id],
        "endpoint": batch.endpoint,
        "model": batch.model,
        "agent_id": None,
        "metadata": batch.metadata,
        "output_file": batch.output_file_id,
        "error_file": batch.error_file_id,
        "outputs": None,
        "errors": _errors(batch),
        "status": STATES[batch.status],
        "created_at": int(batch.created_at),
        "started_at": batch.entered.get("in_progress_at"),
        "completed_at": ended,
        "total_requests": batch.total,
        "completed_requests": batch.completed + batch.failed,
        "succeeded_requests": batch.completed,
        "failed_requests": batch.failed,
    }


def _errors(batch: Batch) -> list[Json]:
    """Messages and how often, without codes; there are some on success too."""
    if batch.faults:
        return [{"message": fault.message, "count": 1} for fault in batch.faults]
    return [{"message": "The request was refused", "count": batch.failed}] if batch.failed else []

"""The batches API of OpenAI and Azure OpenAI."""

import asyncio
import secrets
from dataclasses import dataclass, replace

import msgspec
from aiohttp import web

from local.simulator.admission import Admission, model_of
from local.simulator.batches import Batch, Batches, Status
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.openai_files import limit_of, list_object
from local.simulator.dialects.openai_lines import OpenAILines
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files, StoredFile
from local.simulator.stage import Call, Operation, Stage
from local.simulator.storage import Storage

DAY = 86_400
MAX_PAIRS, MAX_NAME, MAX_VALUE = 16, 64, 512


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHabits:
    """What differs between the two. `is_sparse`: fields are left out or empty that the other always fills.

    `takes_blobs`: input and output may be blobs of the caller's.
    """

    least_output_seconds: int
    most_output_seconds: int = 2_592_000
    is_sparse: bool
    takes_blobs: bool = False


class BatchRoutes:
    def __init__(
        self,
        *,
        dialect: OpenAILines,
        habits: BatchHabits,
        database: Database,
        files: Files,
        batches: Batches,
        clock: Clock,
        admission: Admission,
        storage: Storage,
        engine: Engine,
        stage: Stage,
    ) -> None:
        self._dialect = dialect
        self._habits = habits
        self._database = database
        self._files = files
        self._batches = batches
        self._clock = clock
        self._admission = admission
        self._storage = storage
        self._engine = engine
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        find = self._find
        return [
            ("POST", "/batches", Operation(name="create", receive=self._receive, perform=self._create)),
            ("GET", "/batches", Operation(name="list", receive=self._expect, perform=self._list)),
            ("GET", "/batches/{id}", Operation(name="retrieve", receive=find, perform=self._retrieve)),
            ("POST", "/batches/{id}/cancel", Operation(name="cancel", receive=find, perform=self._cancel)),
        ]

    # Create

    async def _receive(self, call: Call) -> None:
        """The wish for a batch, checked as far as the provider does before it answers."""
        body = await read_json(call.request)
        call.body = body
        batch = self._wished(body)
        call.key, call.file_id, call.endpoint = batch.key, batch.input_file_id, batch.endpoint
        file = await self._input_of(batch)
        if file is not None:
            call.requests, call.input_path = file.lines, self._files.path(file.id)
            call.model = model_of(call.input_path, self._dialect)
        call.request["wish"] = batch
        call.request["file"] = file

    async def _input_of(self, batch: Batch) -> StoredFile | None:
        if batch.input_blob is None:
            return self._files.get(self._dialect.name, batch.input_file_id)
        target = self._files.path(batch.input_file_id)
        size, lines = await asyncio.to_thread(self._storage.fetch, batch.input_blob, target)
        file = StoredFile(
            id=batch.input_file_id,
            provider=f"{self._dialect.name}, own storage",
            purpose="batch",
            filename="input.jsonl",
            bytes=size,
            created_at=int(batch.created_at),
            lines=lines,
        )
        self._files.add(file)
        return file

    def _wished(self, body: Json) -> Batch:
        now = self._clock.now()
        blob, folder = self._blobs(body)
        file_id, endpoint = body.get("input_file_id"), self._dialect.canonical(str(body.get("endpoint")))
        if blob:
            file_id = f"file-{secrets.token_hex(12)}"
        if not isinstance(file_id, str) or not file_id:
            raise CallRefused(
                400, "missing_required_parameter", "'input_file_id' is required.", param="input_file_id"
            )
        if endpoint not in self._dialect.endpoints:
            raise CallRefused(
                400, "invalid_value", f"Invalid endpoint: {body.get('endpoint')!r}.", param="endpoint"
            )
        if body.get("completion_window") != "24h":
            raise CallRefused(
                400, "invalid_value", "completion_window must be '24h'.", param="completion_window"
            )
        return Batch(
            id=f"batch_{secrets.token_hex(16)}",
            provider=self._dialect.name,
            endpoint=endpoint,
            input_file_id=file_id,
            created_at=now,
            expires_at=int(now) + DAY,
            metadata=checked_metadata(body.get("metadata")),
            output_expires_after=self._output_seconds(body.get("output_expires_after")),
            input_blob=blob,
            output_folder=folder,
        )

    def _blobs(self, body: Json) -> tuple[str, str] | tuple[None, None]:
        """Addresses of the input and of the folder for results, if the caller keeps both."""
        blob, folder = body.get("input_blob"), body.get("output_folder")
        if not self._habits.takes_blobs or not blob:
            return None, None
        url = folder.get("url") if isinstance(folder, dict) else None
        if not isinstance(blob, str) or not isinstance(url, str):
            raise CallRefused(
                400, "invalid_request", "input_blob needs output_folder.url.", param="output_folder"
            )
        if body.get("metadata"):
            raise CallRefused(
                400, "invalid_request", "metadata is not supported with input_blob.", param="metadata"
            )
        return blob, url.rstrip("/")

    def _output_seconds(self, given: object) -> int | None:
        if given is None:
            return None
        seconds = given.get("seconds") if isinstance(given, dict) else None
        least, most = self._habits.least_output_seconds, self._habits.most_output_seconds
        if not isinstance(seconds, int) or not least <= seconds <= most:
            raise CallRefused(
                400,
                "invalid_value",
                f"output_expires_after.seconds must be from {least} to {most}.",
                param="output_expires_after.seconds",
            )
        return seconds

    async def _create(self, call: Call) -> web.Response:
        self._check_file(call.request["file"], call)
        batch = await self._admission.admit(call, call.request["wish"], self._dialect)
        return web.json_response(self._object(batch))

    def _check_file(self, file: StoredFile | None, call: Call) -> None:
        if file is None:
            raise CallRefused(
                400, "invalid_request", f"No such File object: {call.file_id}", param="input_file_id"
            )
        if file.purpose != "batch":
            raise CallRefused(
                400, "invalid_request", f"The purpose of {file.id} is not 'batch'.", param="input_file_id"
            )
        if file.status != "processed":
            raise CallRefused(
                400,
                "invalid_request",
                f"The file {file.id} is not processed yet: its status is '{file.status}'.",
                param="input_file_id",
            )

    # The others

    async def _expect(self, call: Call) -> None:
        """A list is about nothing in particular."""

    async def _find(self, call: Call) -> None:
        call.batch_id = call.request.match_info["id"]
        batch = self._batches.get(self._dialect.name, call.batch_id)
        if batch is None:
            raise CallRefused(404, "not_found", f"No batch found with id '{call.batch_id}'.")
        call.request["batch"] = batch
        call.key, call.model, call.requests = batch.key, batch.model, batch.total or None
        call.input_path, call.endpoint = self._files.path(batch.input_file_id), batch.endpoint

    async def _retrieve(self, call: Call) -> web.Response:
        # The rules may have taken time to judge the call; what is answered is what holds now.
        return web.json_response(self._object(self._batches.load(call.request["batch"].id)))

    async def _list(self, call: Call) -> web.Response:
        limit = limit_of(call.request.query.get("limit"), most=100, default=20)
        page = self._batches.page(self._dialect.name, after=call.request.query.get("after"), limit=limit)
        return web.json_response(list_object([self._object(batch) for batch in page.items], page.has_more))

    async def _cancel(self, call: Call) -> web.Response:
        batch = self._batches.load(call.request["batch"].id)
        if batch.status.is_terminal:
            raise CallRefused(400, "invalid_request", f"Cannot cancel a batch with status '{batch.status}'.")
        entered = {**batch.entered, "cancelling_at": int(self._clock.now())}
        batch = replace(
            batch, status=Status.CANCELLING, ending=batch.ending or Status.CANCELLED, entered=entered
        )
        with self._database.transaction():
            self._batches.save(batch)
            self._stage.record(call)
        self._engine.wake(batch.id)
        return web.json_response(self._object(batch))

    def _object(self, batch: Batch) -> Json:
        shown = batch_object(batch)
        return sparse(shown, batch) if self._habits.is_sparse else shown


def checked_metadata(given: object) -> dict[str, str] | None:
    if given is None:
        return None
    fits = isinstance(given, dict) and all(
        isinstance(value, str) and len(name) <= MAX_NAME and len(value) <= MAX_VALUE
        for name, value in given.items()
    )
    if not isinstance(given, dict) or not fits or len(given) > MAX_PAIRS:
        raise CallRefused(
            400,
            "invalid_value",
            f"metadata takes {MAX_PAIRS} pairs, names up to {MAX_NAME}, values up to {MAX_VALUE} characters.",
            param="metadata",
        )
    return given


MOMENTS = (
    "in_progress_at",
    "finalizing_at",
    "completed_at",
    "failed_at",
    "expired_at",
    "cancelling_at",
    "cancelled_at",
)


def batch_object(batch: Batch) -> Json:
    """The batch in OpenAI's shape, every field there."""
    usage, faults = batch.usage, [msgspec.to_builtins(fault) for fault in batch.faults]
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "model": batch.model,
        "errors": {"object": "list", "data": faults} if faults else None,
        "input_file_id": batch.input_file_id,
        "completion_window": batch.completion_window,
        "status": batch.status,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
        "created_at": int(batch.created_at),
        "expires_at": batch.expires_at,
        **{moment: batch.entered.get(moment) for moment in MOMENTS},
        "request_counts": {"total": batch.total, "completed": batch.completed, "failed": batch.failed},
        "usage": {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        },
        "metadata": batch.metadata,
    }


def sparse(shown: Json, batch: Batch) -> Json:
    """The same as Azure shows it: no usage, no model, file ids "" instead of null, counts that come late."""
    kept = {name: value for name, value in shown.items() if name not in {"usage", "model"}}
    kept["endpoint"] = None
    if batch.input_blob:
        kept["input_file_id"] = None
        kept["input_blob"] = batch.input_blob
        kept["output_blob"], kept["error_blob"] = batch.output_blob or "", batch.error_blob or ""
    kept["output_file_id"] = shown["output_file_id"] or ""
    kept["error_file_id"] = shown["error_file_id"] or ""
    if batch.status is Status.VALIDATING:
        kept["request_counts"] = {"total": None, "completed": None, "failed": None}
    return kept


async def read_json(request: web.Request) -> Json:
    try:
        body = msgspec.json.decode(await request.read())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallRefused(400, None, "We could not parse the JSON body of your request.") from error
    if not isinstance(body, dict):
        raise CallRefused(400, None, "The body must be a JSON object.")
    return body

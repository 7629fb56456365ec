"""Vertex AI's batch prediction jobs."""

import re
import secrets
from dataclasses import replace
from datetime import datetime

from aiohttp import web

from local.simulator.admission import Admission
from local.simulator.batches import Batch, Batches, Status
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.gcs_objects import OUTPUT_URI, Objects, location_of, output_directory
from local.simulator.dialects.openai_batches import read_json
from local.simulator.dialects.openai_files import limit_of
from local.simulator.dialects.vertex_bodies import rfc3339
from local.simulator.dialects.vertex_lines import IMPORT_FAILED, VertexLines
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files
from local.simulator.stage import Call, Operation, Stage

PARENT = "/{version:v1|v1beta1}/projects/{project}/locations/{location}"
JOBS = PARENT + "/batchPredictionJobs"
JOB = JOBS + r"/{id:\d+}"

# 72 hours in the queue, then 24 to run.
WINDOW_SECONDS = (72 + 24) * 3600
STATES = {
    Status.VALIDATING: "JOB_STATE_PENDING",
    Status.IN_PROGRESS: "JOB_STATE_RUNNING",
    Status.FINALIZING: "JOB_STATE_RUNNING",
    Status.CANCELLING: "JOB_STATE_CANCELLING",
    Status.COMPLETED: "JOB_STATE_SUCCEEDED",
    Status.FAILED: "JOB_STATE_FAILED",
    Status.CANCELLED: "JOB_STATE_CANCELLED",
    Status.EXPIRED: "JOB_STATE_EXPIRED",
}
# Of gRPC, for faults that the simulator has names for.
CODES = {
    "token_limit_exceeded": 8,
    "permission_denied": 7,
    "model_not_found": 5,
    "bucket_not_found": 9,
    "server_error": 13,
}
FILTER = re.compile(r"""(display_?name|create_?time)\s*(>=|=)\s*["']([^"']*)["']""", re.IGNORECASE)


class JobRoutes:
    def __init__(
        self,
        *,
        dialect: VertexLines,
        objects: Objects,
        database: Database,
        files: Files,
        batches: Batches,
        clock: Clock,
        admission: Admission,
        engine: Engine,
        stage: Stage,
    ) -> None:
        self._dialect = dialect
        self._objects = objects
        self._database = database
        self._files = files
        self._batches = batches
        self._clock = clock
        self._admission = admission
        self._engine = engine
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        find = self._find
        return [
            ("POST", JOBS, Operation(name="create", receive=self._receive, perform=self._create)),
            ("GET", JOBS, Operation(name="list", receive=self._expect, perform=self._list)),
            ("GET", JOB, Operation(name="retrieve", receive=find, perform=self._retrieve)),
            ("POST", JOB + ":cancel", Operation(name="cancel", receive=find, perform=self._cancel)),
        ]

    # Create

    async def _receive(self, call: Call) -> None:
        body = call.body = await read_json(call.request)
        batch = call.request["wish"] = self._wished(body)
        call.key, call.file_id, call.endpoint = batch.key, batch.input_file_id, batch.endpoint
        call.model = batch.endpoint.rpartition("/")[2]
        file = self._files.get(self._dialect.name, batch.input_file_id)
        if file is not None:
            call.requests, call.input_path = file.lines, self._files.path(file.id)

    def _wished(self, body: Json) -> Batch:
        now = self._clock.now()
        model, name = body.get("model"), body.get("displayName")
        if not isinstance(model, str) or not model.startswith("publishers/google/models/"):
            raise CallRefused(400, "INVALID_ARGUMENT", "The model is not one of publishers/google/models/.")
        if not isinstance(name, str) or not 0 < len(name) <= 128:
            raise CallRefused(400, "INVALID_ARGUMENT", "displayName needs 1 to 128 characters.")
        source = _at(body, "inputConfig", "gcsSource", "uris")
        target = _at(body, "outputConfig", "gcsDestination", "outputUriPrefix")
        formats = _at(body, "inputConfig", "instancesFormat"), _at(body, "outputConfig", "predictionsFormat")
        if formats != ("jsonl", "jsonl") or not isinstance(source, list) or len(source) != 1:
            raise CallRefused(400, "INVALID_ARGUMENT", "One input in jsonl and an output in jsonl, please.")
        location_of(str(target))
        return Batch(
            # As long as the real ones, and never with a zero in front.
            id=str(secrets.randbelow(9 * 10**18) + 10**18),
            provider=self._dialect.name,
            endpoint=model,
            model=model.rpartition("/")[2],
            input_file_id=location_of(str(source[0])).file_id,
            created_at=now,
            expires_at=int(now) + WINDOW_SECONDS,
            metadata={"display_key": name, "input_uri": str(source[0]), OUTPUT_URI: str(target)},
        )

    async def _create(self, call: Call) -> web.Response:
        """An input that is not there is found out later, by the import step."""
        wish: Batch = call.request["wish"]
        missing = self._files.path(wish.input_file_id)
        if not missing.exists():
            missing = self._files.path(f"{wish.id}.missing")
            missing.touch()
            wish = replace(wish, input_file_id=missing.name)
        batch = await self._admission.admit(call, wish, self._dialect)
        return web.json_response(self._object(call, batch))

    # The others

    async def _expect(self, call: Call) -> None:
        """A list is about nothing in particular."""

    async def _find(self, call: Call) -> None:
        call.batch_id = call.request.match_info["id"]
        batch = self._batches.get(self._dialect.name, call.batch_id)
        if batch is None:
            raise CallRefused(404, "NOT_FOUND", f"The BatchPredictionJob {call.batch_id!r} does not exist.")
        call.request["batch"] = batch
        call.key, call.model, call.requests = batch.key, batch.model, batch.total or None
        call.input_path, call.endpoint = self._files.path(batch.input_file_id), batch.endpoint

    async def _retrieve(self, call: Call) -> web.Response:
        # The rules may have taken time to judge the call; what is answered is what holds now.
        return web.json_response(self._object(call, self._batches.load(call.request["batch"].id)))

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        limit = limit_of(query.get("pageSize"), most=100, default=50)
        wanted = _filter(query.get("filter", ""))
        found: list[Batch] = []
        after, more = query.get("pageToken"), True
        while more and len(found) <= limit:
            page = self._batches.page(self._dialect.name, after=after, limit=100)
            found += [batch for batch in page.items if _fits(batch, wanted)]
            more = page.has_more
            after = page.items[-1].id if page.items else None
        body: Json = {"batchPredictionJobs": [self._object(call, batch) for batch in found[:limit]]}
        if len(found) > limit:
            body["nextPageToken"] = found[limit - 1].id
        return web.json_response(body)

    async def _cancel(self, call: Call) -> web.Response:
        batch = self._batches.load(call.request["batch"].id)
        if batch.status.is_terminal:
            raise CallRefused(400, "FAILED_PRECONDITION", f"The job is in state {STATES[batch.status]}.")
        entered = {**batch.entered, "cancelling_at": int(self._clock.now())}
        ending = batch.ending or Status.CANCELLED
        with self._database.transaction():
            self._batches.save(replace(batch, status=Status.CANCELLING, ending=ending, entered=entered))
            self._stage.record(call)
        self._engine.wake(batch.id)
        return web.json_response({})

    def _object(self, call: Call, batch: Batch) -> Json:
        places, given = call.request.match_info, batch.metadata or {}
        parent = f"projects/{places['project']}/locations/{places['location']}"
        shown: Json = {
            "name": f"{parent}/batchPredictionJobs/{batch.id}",
            "displayName": given.get("display_key"),
            "model": batch.endpoint,
            "inputConfig": {
                "instancesFormat": "jsonl",
                "gcsSource": {"uris": [given.get("input_uri")]},
            },
            "outputConfig": {
                "predictionsFormat": "jsonl",
                "gcsDestination": {"outputUriPrefix": given.get(OUTPUT_URI)},
            },
            "state": _state(batch),
            "createTime": rfc3339(batch.created_at),
            "updateTime": rfc3339(max([batch.created_at, *batch.entered.values()])),
            "modelVersionId": "default",
        }
        return shown | _progress(batch) | _result(batch)


def _state(batch: Batch) -> str:
    """A job whose window was not over, but some of whose lines were never run, has partially succeeded."""
    if batch.status is Status.EXPIRED and batch.lapsed:
        return "JOB_STATE_PARTIALLY_SUCCEEDED"
    return STATES[batch.status]


def _progress(batch: Batch) -> Json:
    """Nothing before it runs. Counts are strings, as all 64-bit integers."""
    started = batch.entered.get("in_progress_at")
    if started is None:
        return {}
    incomplete = batch.total - batch.completed - batch.failed
    stats = {"successfulCount": str(batch.completed), "failedCount": str(batch.failed)}
    if incomplete:
        stats["incompleteCount"] = str(incomplete)
    return {"startTime": rfc3339(max(batch.created_at, started)), "completionStats": stats}


def _result(batch: Batch) -> Json:
    if not batch.status.is_terminal:
        return {}
    # The moments of a batch are whole seconds.
    shown: Json = {"endTime": rfc3339(max(batch.created_at, batch.entered[f"{batch.status}_at"]))}
    if batch.output_file_id is not None:
        shown["outputInfo"] = {"gcsOutputDirectory": output_directory(batch)}
    if batch.status is Status.CANCELLED:
        shown["error"] = {"code": 1, "message": "The job was cancelled."}
    for fault in batch.faults:
        code = int(fault.code) if fault.code.isdigit() else CODES.get(fault.code, int(IMPORT_FAILED))
        shown["error"] = {"code": code, "message": fault.message}
    return shown


def _filter(text: str) -> list[tuple[str, str, str]]:
    return [
        (name.lower().replace("_", ""), operator, value) for name, operator, value in FILTER.findall(text)
    ]


def _fits(batch: Batch, wanted: list[tuple[str, str, str]]) -> bool:
    for name, _, value in wanted:
        if name == "displayname" and batch.key != value:
            return False
        if name == "createtime" and batch.created_at < _moment(value):
            return False
    return True


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError as error:
        raise CallRefused(400, "INVALID_ARGUMENT", f"{text!r} is no time") from error


def _at(body: Json, *path: str) -> object:
    found: object = body
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found

"""Google Cloud Storage's JSON API below `/gcs`: as much as a client of batches needs."""

import base64
from pathlib import Path

import msgspec
from aiohttp import web

from local.simulator.batches import Batches
from local.simulator.database import Database
from local.simulator.dialects.gcs_objects import KEPT_DAYS, Location, Objects
from local.simulator.dialects.openai_files import limit_of, send_half
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files, StoredFile
from local.simulator.stage import Call, Operation, Stage

MAX_BYTES = 1 << 30
PIECE_BYTES = 256 << 10
BUCKET = "/storage/v1/b/{bucket}"
READ, WRITE = "/storage/v1/b/{bucket}/o", "/upload/storage/v1/b/{bucket}/o"


class ObjectRoutes:
    def __init__(
        self, *, objects: Objects, database: Database, files: Files, batches: Batches, stage: Stage
    ) -> None:
        self._objects = objects
        self._database = database
        self._files = files
        self._batches = batches
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        find = self._find
        return [
            ("POST", WRITE, Operation(name="upload", receive=self._receive, perform=self._begin)),
            ("PUT", WRITE, Operation(name="upload", receive=self._receive_session, perform=self._keep)),
            ("GET", BUCKET, Operation(name="file_list", receive=self._expect, perform=self._bucket)),
            ("GET", READ, Operation(name="file_list", receive=self._expect, perform=self._list)),
            ("DELETE", READ + "/{name}", Operation(name="delete", receive=find, perform=self._delete)),
            ("GET", READ + "/{name}", Operation(name="download", receive=find, perform=self._read)),
        ]

    # Uploads

    async def _receive(self, call: Call) -> None:
        """A small object at once, or the announcement of one that comes in a session of its own."""
        kind = call.request.query.get("uploadType")
        if kind == "resumable":
            announced = _json(await call.request.read())
            name = announced.get("name") or call.request.query.get("name")
        elif kind == "media":
            name = call.request.query.get("name")
            await self._stream(call)
        else:
            raise CallRefused(400, "INVALID_ARGUMENT", f"uploadType {kind!r} is not simulated")
        if not isinstance(name, str) or not name:
            raise CallRefused(400, "INVALID_ARGUMENT", "Required parameter: name")
        call.request["location"] = Location(bucket=call.request.match_info["bucket"], name=name)

    async def _begin(self, call: Call) -> web.StreamResponse:
        if call.leftover is not None:
            return await self._keep(call)
        location: Location = call.request["location"]
        request = call.request
        answer = web.Response(text="")
        answer.headers["Location"] = (
            f"{request.scheme}://{request.host}{request.path}?uploadType=resumable"
            f"&upload_id={_session(location)}"
        )
        return answer

    async def _receive_session(self, call: Call) -> None:
        call.request["location"] = _location(call.request.query.get("upload_id", ""))
        await self._stream(call)

    async def _stream(self, call: Call) -> None:
        path = call.leftover = self._files.incoming()
        size, lines = await _write(call.request, path)
        announced = call.request.content_length
        if announced is not None and size != announced:
            raise CallRefused(400, "INVALID_ARGUMENT", "The upload is not whole.")
        call.input_path, call.requests = path, lines

    async def _keep(self, call: Call) -> web.Response:
        assert call.leftover is not None
        with self._database.transaction():
            file = self._objects.keep(call.request["location"], call.leftover, lines=call.requests)
            call.file_id = file.filename
            self._stage.record(call)
        return web.json_response(self._objects.described(file))

    # The others

    async def _expect(self, call: Call) -> None:
        self._objects.export_results()

    async def _bucket(self, call: Call) -> web.Response:
        """Every bucket has the rule that Postern's page recommends."""
        rule = {"action": {"type": "Delete"}, "condition": {"age": KEPT_DAYS}}
        name = call.request.match_info["bucket"]
        return web.json_response({"kind": "storage#bucket", "name": name, "lifecycle": {"rule": [rule]}})

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        found = self._objects.below(call.request.match_info["bucket"], query.get("prefix", ""))
        limit = limit_of(query.get("maxResults"), most=1000, default=1000)
        later = [file for file in found if file.filename > _decoded(query.get("pageToken", ""))]
        body: Json = {"kind": "storage#objects"}
        if later:
            body["items"] = [self._objects.described(file) for file in later[:limit]]
        if len(later) > limit:
            body["nextPageToken"] = _encoded(later[limit - 1].filename)
        return web.json_response(body)

    async def _find(self, call: Call) -> None:
        self._objects.export_results()
        bucket, name = call.request.match_info["bucket"], call.request.match_info["name"]
        file = self._objects.get(Location(bucket=bucket, name=name))
        call.file_id = f"{bucket}/{name}"
        if call.operation == "download" and call.request.query.get("alt") != "media":
            call.operation = "file_retrieve"
        if file is None:
            raise CallRefused(404, "NOT_FOUND", f"No such object: {bucket}/{name}")
        call.request["file"] = file
        call.requests, call.batch_id = file.lines, file.batch_id
        if file.batch_id is not None:
            # What a job has written is about that job's requests.
            batch = self._batches.load(file.batch_id)
            call.key, call.model, call.endpoint = batch.key, batch.model, batch.endpoint
            call.input_path = self._files.path(batch.input_file_id)
        else:
            call.input_path = self._files.path(file.id)

    async def _delete(self, call: Call) -> web.Response:
        with self._database.transaction():
            self._files.delete(call.request["file"])
            self._stage.record(call)
        return web.Response(status=204)

    async def _read(self, call: Call) -> web.StreamResponse:
        file: StoredFile = call.request["file"]
        if call.operation == "file_retrieve":
            return web.json_response(self._objects.described(file))
        path = self._files.path(file.id)
        if call.then.drop == "after":
            return await send_half(call.request, path)
        headers = {"Content-Type": "application/octet-stream"}
        return web.FileResponse(path, chunk_size=PIECE_BYTES, headers=headers)


async def _write(request: web.Request, path: Path) -> tuple[int, int]:
    """Size and number of lines; a last line without its end counts."""
    size = lines = 0
    last = b""
    with path.open("wb") as file:
        async for piece in request.content.iter_chunked(PIECE_BYTES):
            size += len(piece)
            if size > MAX_BYTES:
                raise CallRefused(413, "INVALID_ARGUMENT", f"The object is larger than {MAX_BYTES} bytes.")
            lines += piece.count(b"\n")
            file.write(piece)
            last = piece
    return size, lines + (not last.endswith(b"\n") if last else 0)


def _session(location: Location) -> str:
    """Where the object will be: a session has no other state, so it outlives the process."""
    return _encoded(msgspec.json.encode([location.bucket, location.name]).decode())


def _location(upload_id: str) -> Location:
    try:
        bucket, name = msgspec.json.decode(_decoded(upload_id), type=tuple[str, str])
    except (ValueError, msgspec.MsgspecError) as error:
        raise CallRefused(404, "NOT_FOUND", "There is no such upload session.") from error
    return Location(bucket=bucket, name=name)


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decoded(token: str) -> str:
    return base64.urlsafe_b64decode(token).decode()


def _json(content: bytes) -> Json:
    try:
        return msgspec.json.decode(content or b"{}", type=Json)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CallRefused(400, "INVALID_ARGUMENT", "Parse Error") from error

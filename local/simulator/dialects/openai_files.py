"""The files API of OpenAI and Azure OpenAI."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from aiohttp import BodyPartReader, ClientPayloadError, web
from aiohttp.http import HttpProcessingError

from local.simulator.batches import Batches
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.failures import CallRefused, Json
from local.simulator.files import Files, StoredFile
from local.simulator.quotas import Quotas
from local.simulator.stage import Call, Operation, Stage

PIECE_BYTES = 256 << 10
MAX_FIELD_BYTES = 10_000
FIELD = re.compile(r"expires_after(?:\[(\w+)\]|\.(\w+))")
# A form without sense, or a caller that has gone in the middle of it.
UNREADABLE = (ValueError, HttpProcessingError, ClientPayloadError, ConnectionError)
PURPOSES = frozenset({"batch", "assistants", "fine-tune", "vision", "user_data", "evals"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHabits:
    """What differs between the two: bounds of `expires_after`, what holds without it, how many are kept."""

    least_seconds: int
    most_seconds: int = 2_592_000
    default_seconds: int | None
    max_without_expiry: int
    max_with_expiry: int
    most_bytes: int = 200 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """What the form said; `fields` is all of it but the file. The bytes lie at `path`."""

    path: Path
    filename: str
    purpose: str
    expires_after: int | None
    bytes: int
    lines: int
    fields: Mapping[str, str]


class FileRoutes:
    def __init__(
        self,
        *,
        provider: str,
        habits: FileHabits,
        database: Database,
        files: Files,
        batches: Batches,
        clock: Clock,
        quotas: Quotas,
        stage: Stage,
    ) -> None:
        self._provider = provider
        self._habits = habits
        self._database = database
        self._files = files
        self._batches = batches
        self._clock = clock
        self._quotas = quotas
        self._stage = stage

    def routes(self) -> list[tuple[str, str, Operation]]:
        find = self._find
        return [
            ("POST", "/files", Operation(name="upload", receive=self._receive, perform=self._keep)),
            ("GET", "/files", Operation(name="file_list", receive=_nothing, perform=self._list)),
            ("GET", "/files/{id}", Operation(name="file_retrieve", receive=find, perform=self._retrieve)),
            ("DELETE", "/files/{id}", Operation(name="delete", receive=find, perform=self._delete)),
            ("GET", "/files/{id}/content", Operation(name="download", receive=find, perform=self._content)),
        ]

    # Upload

    async def _receive(self, call: Call) -> None:
        """Stream the form to disk. Nothing is remembered of it until the effect."""
        path = call.leftover = self._files.incoming()
        try:
            upload = await read_form(call.request, path, most_bytes=self._habits.most_bytes)
        except UNREADABLE as error:
            raise CallRefused(400, "invalid_request", f"The form cannot be read: {error}") from error
        self._check(upload)
        call.input_path, call.requests = path, upload.lines
        call.request["upload"] = upload

    def _check(self, upload: Upload) -> None:
        habits, seconds = self._habits, upload.expires_after
        if upload.purpose not in PURPOSES:
            raise CallRefused(
                400, "invalid_value", f"Invalid value for purpose: {upload.purpose!r}.", param="purpose"
            )
        if seconds is not None and not habits.least_seconds <= seconds <= habits.most_seconds:
            raise CallRefused(
                400,
                "invalid_value",
                f"expires_after.seconds must be from {habits.least_seconds} to {habits.most_seconds}.",
                param="expires_after.seconds",
            )

    async def _keep(self, call: Call) -> web.Response:
        upload: Upload = call.request["upload"]
        file = self._made(upload, call)
        self._check_room(file)
        upload.path.rename(self._files.path(file.id))
        call.file_id = file.id
        with self._database.transaction():
            self._files.add(file)
            self._stage.record(call)
        return web.json_response(self._shown(file))

    def _shown(self, file: StoredFile) -> Json:
        return file_object(file)

    def _made(self, upload: Upload, call: Call) -> StoredFile:
        now = int(self._clock.now())
        kept = upload.expires_after
        if kept is None and upload.purpose == "batch":
            kept = self._habits.default_seconds
        return StoredFile(
            id=f"file-{secrets.token_hex(16)}",
            provider=self._provider,
            purpose=upload.purpose,
            filename=upload.filename,
            bytes=upload.bytes,
            lines=upload.lines,
            created_at=now,
            expires_at=None if kept is None or call.then.no_expiry else now + kept,
            pending_reads=call.then.pending_reads or 0,
        )

    def _check_room(self, file: StoredFile) -> None:
        with_expiry = file.expires_at is not None
        habits, quota = self._habits, self._quotas.of(self._provider)
        most = habits.max_with_expiry if with_expiry else habits.max_without_expiry
        if quota and quota.files is not None:
            most = quota.files
        if self._files.count_inputs(self._provider, with_expiry=with_expiry) >= most:
            raise CallRefused(400, "quotaExceeded", f"The resource holds {most} batch input files already.")

    # The others

    async def _find(self, call: Call) -> None:
        file = self._files.get(self._provider, call.request.match_info["id"])
        call.file_id = call.request.match_info["id"]
        if file is None:
            raise CallRefused(404, "not_found", f"No such File object: {call.file_id}", param="id")
        call.request["file"] = file
        call.requests, call.batch_id = file.lines, file.batch_id
        batch = self._batches.get(self._provider, file.batch_id) if file.batch_id else None
        if batch is not None:
            # What a batch has written is about that batch's requests.
            call.key, call.model, call.endpoint = batch.key, batch.model, batch.endpoint
            call.input_path = self._files.path(batch.input_file_id)
        elif file.lines is not None:
            call.input_path = self._files.path(file.id)

    async def _retrieve(self, call: Call) -> web.Response:
        return web.json_response(self._shown(self._files.read_status(call.request["file"])))

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        page = self._files.page(
            self._provider,
            purpose=query.get("purpose"),
            after=query.get("after"),
            limit=limit_of(query.get("limit"), most=10_000, default=10_000),
            newest_first=query.get("order", "desc") == "desc",
        )
        return web.json_response(list_object([file_object(file) for file in page.items], page.has_more))

    async def _delete(self, call: Call) -> web.Response:
        file: StoredFile = call.request["file"]
        self._files.delete(file)
        return web.json_response({"id": file.id, "object": "file", "deleted": True})

    async def _content(self, call: Call) -> web.StreamResponse:
        file: StoredFile = call.request["file"]
        path = self._files.path(file.id)
        if call.then.drop == "after":
            return await send_half(call.request, path)
        headers = {"Content-Type": "application/octet-stream"}
        return web.FileResponse(path, chunk_size=PIECE_BYTES, headers=headers)


async def _nothing(_: Call) -> None:
    """There is nothing to receive."""


async def read_form(request: web.Request, path: Path, *, most_bytes: int) -> Upload:
    """The multipart form, its file streamed to `path`: memory stays flat whatever the size."""
    if not request.content_type.startswith("multipart/"):
        raise CallRefused(400, "invalid_request", "The body must be multipart/form-data.")
    fields: dict[str, str] = {}
    size = lines = 0
    filename = ""
    reader = await request.multipart()
    while (part := await reader.next()) is not None:
        if not isinstance(part, BodyPartReader) or part.name is None:
            continue
        if part.name == "file":
            filename = part.filename or "file"
            size, lines = await _stream(part, path, most_bytes)
        else:
            fields[part.name] = (await part.read_chunk(MAX_FIELD_BYTES)).decode("utf-8", "replace")
    if not filename:
        raise CallRefused(400, "missing_required_parameter", "'file' is a required property", param="file")
    return Upload(
        path=path,
        filename=filename,
        purpose=fields.get("purpose", ""),
        expires_after=_seconds(fields),
        bytes=size,
        lines=lines,
        fields=fields,
    )


async def _stream(part: BodyPartReader, path: Path, most_bytes: int) -> tuple[int, int]:
    """Size and number of lines; a last line without its end counts."""
    size = lines = 0
    last = b""
    with path.open("wb") as file:
        while piece := await part.read_chunk(PIECE_BYTES):
            size += len(piece)
            if size > most_bytes:
                raise CallRefused(413, "file_too_large", f"The file is larger than {most_bytes} bytes.")
            lines += piece.count(b"\n")
            file.write(piece)
            last = piece
    return size, lines + (not last.endswith(b"\n") if last else 0)


async def send_half(request: web.Request, path: Path) -> web.StreamResponse:
    """The effect of a download is its bytes: a connection that is cut after it has carried half of them."""
    whole = path.stat().st_size
    response = web.StreamResponse(headers={"Content-Length": str(whole)})
    await response.prepare(request)
    left = whole // 2
    with path.open("rb") as file:
        while left and (piece := file.read(min(left, PIECE_BYTES))):
            await response.write(piece)
            left -= len(piece)
    # What is still in the buffer would be lost with the connection.
    await response.drain()
    return response


def _seconds(fields: dict[str, str]) -> int | None:
    """`expires_after[seconds]` and `expires_after.seconds` are both in use."""
    given = {
        (found[1] or found[2]): value for name, value in fields.items() if (found := FIELD.fullmatch(name))
    }
    if not given:
        return None
    if given.get("anchor", "created_at") != "created_at" or not given.get("seconds", "").isdigit():
        raise CallRefused(
            400,
            "invalid_value",
            "expires_after needs anchor 'created_at' and seconds.",
            param="expires_after",
        )
    return int(given["seconds"])


def file_object(file: StoredFile) -> Json:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": file.created_at,
        "filename": file.filename,
        "purpose": file.purpose,
        "status": file.status,
        "expires_at": file.expires_at,
        "status_details": None,
    }


def list_object(items: list[Json], has_more: bool) -> Json:
    return {
        "object": "list",
        "data": items,
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": has_more,
    }


def limit_of(value: str | None, *, most: int, default: int, least: int = 1) -> int:
    if value is None:
        return default
    if not value.isdigit() or not least <= int(value) <= most:
        raise CallRefused(400, "invalid_value", f"limit must be from {least} to {most}.", param="limit")
    return int(value)

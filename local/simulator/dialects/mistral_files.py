"""Mistral's files API. A batch's input is looked through line by line before it is taken."""

import asyncio
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from aiohttp import web

from local.simulator.dialects import mistral_bodies
from local.simulator.dialects.mistral_lines import checked_line, endpoint_of
from local.simulator.dialects.openai_files import FileHabits, FileRoutes, Upload, limit_of
from local.simulator.failures import CallRefused, Json, LineRefused
from local.simulator.files import StoredFile
from local.simulator.lines import scan
from local.simulator.stage import Call, Operation

HOUR = 3600
# The longest an expiry may be is not documented; this one lets everything plausible through.
MOST_HOURS = 10_000
HABITS = FileHabits(
    least_seconds=HOUR,
    most_seconds=MOST_HOURS * HOUR,
    default_seconds=None,
    max_without_expiry=1_000_000,
    max_with_expiry=1_000_000,
    most_bytes=512 << 20,
)
SIGNED = "/mistral/signed"
PURPOSES = frozenset({"fine-tune", "batch", "ocr", "audio"})


class MistralFileRoutes(FileRoutes):
    """OpenAI's flow with Mistral's shapes: ids are UUIDs, expiry is told in hours."""

    async def _receive(self, call: Call) -> None:
        await super()._receive(call)
        upload: Upload = call.request["upload"]
        if upload.purpose == "batch":
            await asyncio.to_thread(check_lines, upload.path)

    def _check(self, upload: Upload) -> None:
        if upload.purpose not in PURPOSES:
            raise refused_file("literal_error", "purpose", "Input should be 'fine-tune', 'batch' or 'ocr'")
        hours = upload.fields.get("expiry")
        if hours is not None and not (hours.isdigit() and 1 <= int(hours) <= MOST_HOURS):
            raise refused_file("int_parsing", "expiry", "Input should be a valid integer")

    def _made(self, upload: Upload, call: Call) -> StoredFile:
        hours = upload.fields.get("expiry")
        kept = replace(upload, expires_after=int(hours) * HOUR if hours else None)
        return replace(super()._made(kept, call), id=str(uuid4()))

    def _shown(self, file: StoredFile) -> Json:
        return file_object(file)

    def routes(self) -> list[tuple[str, str, Operation]]:
        signed = Operation(name="file_retrieve", receive=self._find, perform=self._sign)
        return [*super().routes(), ("GET", "/files/{id}/url", signed)]

    def signed_route(self) -> tuple[str, str, Operation]:
        """Where a signed URL leads: whoever has it needs no key."""
        download = Operation(name="download", receive=self._find, perform=self._content)
        return ("GET", f"{SIGNED}/{{id}}", download)

    async def _sign(self, call: Call) -> web.Response:
        request, file = call.request, call.request["file"]
        return web.json_response({"url": f"{request.scheme}://{request.host}{SIGNED}/{file.id}"})

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        size = limit_of(query.get("page_size"), most=1000, default=100)
        page = limit_of(query.get("page"), most=1_000_000, default=0, least=0)
        everything = self._files.page(
            self._provider,
            purpose=query.get("purpose"),
            after=None,
            limit=1_000_000,
            newest_first=True,
        ).items
        shown = [file_object(file) for file in everything[page * size : (page + 1) * size]]
        return web.json_response({"data": shown, "object": "list", "total": len(everything)})


def check_lines(path: Path) -> None:
    """The first line that does not fit the schema of its endpoint refuses the whole file."""
    for number, _, _, raw in scan(path):
        try:
            body = checked_line(raw)["body"]
            mistral_bodies.question_of(body, endpoint_of(body))
        except LineRefused as error:
            detail = mistral_bodies.detail_of(error.code, error.param)
            detail[0]["loc"] = ["body", "file", number - 1, *detail[0]["loc"]]
            raise CallRefused(422, error.code, error.message, body={"detail": detail}) from error


def refused_file(kind: str, field: str, message: str) -> CallRefused:
    detail = [{"type": kind, "loc": ["body", field], "msg": message}]
    return CallRefused(422, kind, message, body={"detail": detail})


def file_object(file: StoredFile) -> Json:
    kind = "batch_request"
    if file.batch_id:
        kind = "batch_error" if file.filename.endswith("_error.jsonl") else "batch_result"
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": file.created_at,
        "filename": file.filename,
        "purpose": "batch" if file.batch_id else file.purpose,
        "sample_type": kind,
        "source": "mistral" if file.batch_id else "upload",
        "num_lines": file.lines,
        "mimetype": "application/jsonl",
        "signature": None,
        "expires_at": file.expires_at,
        "visibility": "workspace",
        "deleted": False,
    }

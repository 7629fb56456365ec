"""The Message Batches API: requests come in the body, results lie behind a URL."""

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web

from local.simulator.answers.replies import Failure
from local.simulator.batches import Batch, Status
from local.simulator.dialects.anthropic_bodies import INVALID, NEWEST
from local.simulator.dialects.anthropic_lines import AnthropicLines
from local.simulator.dialects.mounting import Parts
from local.simulator.dialects.openai_files import limit_of
from local.simulator.failures import CallRefused, Json, LineRefused
from local.simulator.lines import scan
from local.simulator.stage import Call, Operation, Perform, Receive
from local.simulator.work import names_of

MAX_BYTES: Final = 256_000_000
MAX_REQUESTS: Final = 100_000
DAY: Final = 86_400
# Since the creation, not the end.
RESULTS_KEPT: Final = 29 * DAY
PIECE_BYTES: Final = 1 << 20


class _Envelope(msgspec.Struct):
    requests: list[msgspec.Raw]


_decode: Final = msgspec.json.Decoder(_Envelope).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicBatches:
    parts: Parts
    dialect: AnthropicLines

    def routes(self) -> list[tuple[str, str, Operation]]:
        find, batch = self._find, "/messages/batches/{id}"
        return [
            ("POST", "/messages/batches", _operation("create", self._receive, self._create)),
            ("GET", "/messages/batches", _operation("list", self._expect, self._list)),
            ("GET", batch, _operation("retrieve", find, self._retrieve)),
            ("DELETE", batch, _operation("delete", find, self._delete)),
            ("POST", batch + "/cancel", _operation("cancel", find, self._cancel)),
            ("GET", batch + "/results", _operation("download", find, self._results)),
        ]

    # Create

    async def _receive(self, call: Call) -> None:
        """The envelope is checked here; what is wrong inside `params` becomes a row."""
        path = call.leftover = self.parts.files.incoming()
        content = await _whole(call.request)
        call.endpoint = call.request.headers.get("anthropic-version") or NEWEST
        call.requests, call.model = await asyncio.to_thread(self._unpack, content, path, call.endpoint)
        call.input_path = path

    def _unpack(self, content: bytes, path: Path, version: str) -> tuple[int, str]:
        """Number of requests and the first one's model; the requests lie at `path`, one a line."""
        try:
            requests = _decode(content).requests
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise CallRefused(400, INVALID, f"The request body is not valid: {error}") from error
        if not 1 <= len(requests) <= MAX_REQUESTS:
            raise CallRefused(400, INVALID, f"requests: must have 1 to {MAX_REQUESTS} items")
        seen: set[str] = set()
        models: list[str] = []
        with path.open("wb") as file:
            for place, raw in enumerate(requests):
                line = self._checked(bytes(raw), version, place, seen)
                models.append(line)
                # Blanks between the parts of JSON only: inside strings they are escaped.
                file.write(bytes(raw).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
        return len(requests), models[0]

    def _checked(self, raw: bytes, version: str, place: int, seen: set[str]) -> str:
        try:
            line = self.dialect.read_line(raw, version)
        except LineRefused as error:
            raise CallRefused(400, INVALID, f"requests.{place}.{error.message}") from error
        if line.custom_id in seen:
            raise CallRefused(400, INVALID, f"requests.{place}.custom_id: must be unique in the batch")
        seen.add(line.custom_id)
        return line.model

    async def _create(self, call: Call) -> web.Response:
        parts, now = self.parts, self.parts.clock.now()
        file_id = f"inline-{secrets.token_hex(16)}"
        (call.leftover or Path()).rename(parts.files.path(file_id))
        call.input_path = parts.files.path(file_id)
        wish = Batch(
            id=f"msgbatch_{secrets.token_hex(12)}",
            provider=self.dialect.name,
            endpoint=call.endpoint or NEWEST,
            input_file_id=file_id,
            created_at=now,
            expires_at=int(now) + DAY,
            model=call.model,
            total=call.requests or 0,
        )
        batch = await parts.admission.admit(call, wish, self.dialect)
        return web.json_response(self._object(call, batch))

    # The others

    async def _expect(self, call: Call) -> None:
        """A list is about nothing in particular."""

    async def _find(self, call: Call) -> None:
        call.batch_id = call.request.match_info["id"]
        batch = self.parts.batches.get(self.dialect.name, call.batch_id)
        if batch is None:
            raise CallRefused(404, "not_found_error", f"No batch found with id {call.batch_id}")
        call.request["batch"] = batch
        call.model, call.requests, call.endpoint = batch.model, batch.total or None, batch.endpoint
        call.input_path = self.parts.files.path(batch.input_file_id)

    async def _retrieve(self, call: Call) -> web.Response:
        batch = self.parts.batches.load(call.request["batch"].id)
        headers = {} if batch.status.is_terminal else {"retry-after": "10"}
        return web.json_response(self._object(call, batch), headers=headers)

    async def _list(self, call: Call) -> web.Response:
        query = call.request.query
        limit = limit_of(query.get("limit"), most=1000, default=20)
        page = self.parts.batches.page(self.dialect.name, after=query.get("after_id"), limit=limit)
        shown = [self._object(call, batch) for batch in page.items]
        ids = [each["id"] for each in shown]
        return web.json_response(
            {
                "data": shown,
                "has_more": page.has_more,
                "first_id": ids[0] if ids else None,
                "last_id": ids[-1] if ids else None,
            }
        )

    async def _delete(self, call: Call) -> web.Response:
        batch = self.parts.batches.load(call.request["batch"].id)
        if not batch.status.is_terminal:
            raise CallRefused(400, INVALID, f"{batch.id} is in progress; cancel it first")
        with self.parts.database.transaction():
            self.parts.batches.delete(batch.id)
            self.parts.stage.record(call)
        return web.json_response({"id": batch.id, "type": "message_batch_deleted"})

    async def _cancel(self, call: Call) -> web.Response:
        parts = self.parts
        batch = parts.batches.load(call.request["batch"].id)
        if not batch.status.is_terminal and batch.status is not Status.CANCELLING:
            entered = {**batch.entered, "cancelling_at": int(parts.clock.now())}
            batch = replace(
                batch, status=Status.CANCELLING, ending=batch.ending or Status.CANCELLED, entered=entered
            )
            with parts.database.transaction():
                parts.batches.save(batch)
                parts.stage.record(call)
            parts.engine.wake(batch.id)
        return web.json_response(self._object(call, batch))

    async def _results(self, call: Call) -> web.StreamResponse:
        batch = self.parts.batches.load(call.request["batch"].id)
        if not self._has_results(batch):
            raise CallRefused(404, "not_found_error", f"There are no results of {batch.id}")
        half = call.then.drop == "after"
        response = web.StreamResponse(headers={"content-type": "application/x-jsonl"})
        await response.prepare(call.request)
        for piece in await asyncio.to_thread(self._pieces, batch, half):
            await response.write(piece)
        if not half:
            await response.write_eof()
        return response

    def _pieces(self, batch: Batch, half: bool) -> Sequence[bytes]:
        if batch.status is Status.FAILED:
            return list(self._errors(batch))
        if batch.output_file_id is None:
            return []
        content = self.parts.files.path(batch.output_file_id).read_bytes()
        content = content[: len(content) // 2] if half else content
        return [content[start : start + PIECE_BYTES] for start in range(0, len(content), PIECE_BYTES)]

    def _errors(self, batch: Batch) -> Iterator[bytes]:
        """No batch fails as a whole here: every request of it has erred."""
        fault = batch.faults[0]
        failure = Failure(status=400, code=fault.code, message=fault.message)
        for place, (_, _, _, raw) in enumerate(scan(self.parts.files.path(batch.input_file_id))):
            line = self.dialect.read_line(raw, batch.endpoint)
            row = self.dialect.row(line, names_of(batch.id, place, 0), failure, batch.endpoint)
            yield msgspec.json.encode(row) + b"\n"

    # Objects

    def _object(self, call: Call, batch: Batch) -> Json:
        ended = batch.status.is_terminal
        ended_at = max(batch.entered.values(), default=batch.created_at) if ended else None
        kept_until = batch.created_at + RESULTS_KEPT
        archived = ended and self.parts.clock.now() >= kept_until
        results = f"{call.request.url.origin()}/anthropic/v1/messages/batches/{batch.id}/results"
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": _status(batch.status),
            "request_counts": self._counts(batch),
            "created_at": _moment(batch.created_at),
            "expires_at": _moment(batch.expires_at),
            "ended_at": _moment(ended_at),
            "cancel_initiated_at": _moment(batch.entered.get("cancelling_at")),
            "archived_at": _moment(kept_until) if archived else None,
            "results_url": results if self._has_results(batch) else None,
        }

    def _counts(self, batch: Batch) -> Json:
        total = batch.total
        if batch.status is Status.FAILED:
            total = sum(1 for _ in scan(self.parts.files.path(batch.input_file_id)))
            return {"processing": 0, "succeeded": 0, "errored": total, "canceled": 0, "expired": 0}
        left = total - batch.completed - batch.failed - batch.lapsed
        canceled = left if batch.status is Status.CANCELLED else 0
        expired = left if batch.status is Status.EXPIRED else 0
        return {
            "processing": 0 if batch.status.is_terminal else left,
            "succeeded": batch.completed,
            "errored": batch.failed,
            "canceled": canceled,
            "expired": batch.lapsed + expired,
        }

    def _has_results(self, batch: Batch) -> bool:
        lapsed = self.parts.clock.now() >= batch.created_at + RESULTS_KEPT
        return batch.status.is_terminal and not lapsed


def _operation(name: str, receive: Receive, perform: Perform) -> Operation:
    return Operation(name=name, receive=receive, perform=perform)


def _status(status: Status) -> str:
    if status.is_terminal:
        return "ended"
    return "canceling" if status is Status.CANCELLING else "in_progress"


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


async def _whole(request: web.Request) -> bytes:
    """The body, whatever its size up to the service's own bound."""
    body = bytearray()
    async for piece in request.content.iter_chunked(PIECE_BYTES):
        body += piece
        if len(body) > MAX_BYTES:
            raise CallRefused(413, "request_too_large", f"Request exceeds the maximum size of {MAX_BYTES}")
    return bytes(body)

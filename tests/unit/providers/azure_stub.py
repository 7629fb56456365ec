"""A loopback server that answers like Azure OpenAI's files and batches, and does what a test scripts."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

START = 1_780_000_000

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    fields: dict[str, Any]


@dataclass
class AzureStub:
    """`scripted[operation]`: answers to give once each, in place of the usual one.

    Operations: upload, file, content, delete, create, batch, list, cancel.
    """

    url: str = ""
    scripted: dict[str, deque[Answer]] = field(default_factory=lambda: defaultdict(deque))
    seen: list[Seen] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    now: int = START
    page: int = 100

    def script(self, operation: str, *answers: Answer) -> None:
        self.scripted[operation].extend(answers)

    def calls(self, operation: str) -> list[Seen]:
        return [seen for seen in self.seen if seen.fields["operation"] == operation]

    def add_file(self, content: bytes, **fields: object) -> str:
        name = f"file-{len(self.files)}"
        self.contents[name] = content
        self.files[name] = {"id": name, "object": "file", "status": "processed", "expires_at": None, **fields}
        return name

    def add_batch(self, **fields: object) -> dict[str, Any]:
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "status": "validating",
            "created_at": self.now,
            "expires_at": self.now + 86400,
            "errors": None,
            "output_file_id": None,
            "error_file_id": None,
            "request_counts": {"total": 0, "completed": 0, "failed": 0},
            "metadata": None,
            **fields,
        }
        return self.batches[name]

    def finish(self, name: str) -> None:
        """Every request is answered with its own prompt."""
        batch = self.batches[name]
        lines = [json.loads(line) for line in self.contents[batch["input_file_id"]].split(b"\n") if line]
        output = b"".join(json.dumps(_echo(line)).encode() + b"\n" for line in lines)
        batch["status"] = "completed"
        batch["output_file_id"] = self.add_file(output, expires_at=self.now + 30 * 86400)
        batch["error_file_id"] = self.add_file(b"")
        batch["request_counts"] = {"total": len(lines), "completed": len(lines), "failed": 0}


def _echo(line: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": line["body"]["messages"][0]["content"], "refusal": None}
    body = {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"custom_id": line["custom_id"], "response": response, "error": None}


def failing(status: int, body: object = None, headers: dict[str, str] | None = None) -> Answer:
    async def answer(request: web.Request) -> web.Response:
        if isinstance(body, str | bytes):
            content = body if isinstance(body, bytes) else body.encode()
            return web.Response(status=status, body=content, headers=headers)
        return web.json_response(body, status=status, headers=headers)

    return answer


def error(status: int, code: object, message: str = "a message", **headers: str) -> Answer:
    told = {"error": {"code": code, "message": message, "type": None, "param": None}}
    return failing(status, told, {name.replace("_", "-"): value for name, value in headers.items()})


async def dropped(request: web.Request) -> web.StreamResponse:
    """The connection is cut without an answer."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def never(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(3600)
    return web.Response()


def then(effect: Callable[[], object], answer: Answer) -> Answer:
    """The effect happens, and then the answer goes wrong."""

    async def both(request: web.Request) -> web.StreamResponse:
        effect()
        return await answer(request)

    return both


@asynccontextmanager
async def azure_stub() -> AsyncIterator[AzureStub]:
    stub = AzureStub()
    app = web.Application(client_max_size=1 << 30)
    for prefix in ("/openai/v1", "/openai", "/gateway/llm/openai/v1"):
        _add_routes(app, prefix, stub)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    stub.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield stub
    finally:
        await runner.cleanup()


def _add_routes(app: web.Application, prefix: str, stub: AzureStub) -> None:
    def route(
        method: str, path: str, operation: str, usual: Callable[..., Awaitable[web.StreamResponse]]
    ) -> None:
        async def handle(request: web.Request) -> web.StreamResponse:
            fields = await _fields(request)
            stub.seen.append(
                Seen(
                    request.method,
                    request.path,
                    dict(request.query),
                    dict(request.headers),
                    {**fields, "operation": operation},
                )
            )
            if stub.scripted[operation]:
                return await stub.scripted[operation].popleft()(request)
            return await usual(stub, request, fields)

        app.router.add_route(method, prefix + path, handle)

    route("POST", "/files", "upload", _upload)
    route("GET", "/files/{id}", "file", _file)
    route("GET", "/files/{id}/content", "content", _content)
    route("DELETE", "/files/{id}", "delete", _delete)
    route("POST", "/batches", "create", _create)
    route("GET", "/batches/{id}", "batch", _batch)
    route("GET", "/batches", "list", _list)
    route("POST", "/batches/{id}/cancel", "cancel", _cancel)


async def _fields(request: web.Request) -> dict[str, Any]:
    if request.content_type == "multipart/form-data":
        form = await request.post()
        return {
            name: (value.filename, value.file.read()) if isinstance(value, web.FileField) else value
            for name, value in form.items()
        }
    text = await request.text()
    return json.loads(text) if text else {}


def _absent(what: str) -> web.Response:
    told = {"error": {"code": None, "type": "invalid_request_error", "message": f"No such {what}"}}
    return web.json_response(told, status=404)


async def _upload(stub: AzureStub, request: web.Request, fields: dict[str, Any]) -> web.Response:
    expires_at = stub.now + int(fields["expires_after[seconds]"])
    return web.json_response(stub.files[stub.add_file(fields["file"][1], expires_at=expires_at)])


async def _file(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    found = stub.files.get(request.match_info["id"])
    return web.json_response(found) if found else _absent("file")


async def _content(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    found = stub.contents.get(request.match_info["id"])
    return _absent("file") if found is None else web.Response(body=found)


async def _delete(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    found = stub.files.pop(request.match_info["id"], None)
    stub.contents.pop(request.match_info["id"], None)
    return web.json_response({"id": request.match_info["id"], "deleted": True}) if found else _absent("file")


async def _create(stub: AzureStub, request: web.Request, fields: dict[str, Any]) -> web.Response:
    batch = stub.add_batch(input_file_id=fields["input_file_id"], metadata=fields.get("metadata"))
    return web.json_response(batch)


async def _batch(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    found = stub.batches.get(request.match_info["id"])
    return web.json_response(found) if found else _absent("batch")


async def _cancel(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    batch = stub.batches.get(request.match_info["id"])
    if batch is None:
        return _absent("batch")
    if batch["status"] not in ("validating", "in_progress"):
        return web.json_response({"error": {"code": "invalid_request", "message": "ended"}}, status=400)
    batch["status"] = "cancelling"
    return web.json_response(batch)


async def _list(stub: AzureStub, request: web.Request, fields: object) -> web.Response:
    newest_first = sorted(
        stub.batches.values(), key=lambda batch: (batch["created_at"], int(batch["id"][6:])), reverse=True
    )
    after = request.query.get("after")
    start = next((n + 1 for n, batch in enumerate(newest_first) if batch["id"] == after), 0)
    limit = min(int(request.query.get("limit", 20)), stub.page)
    data = newest_first[start : start + limit]
    return web.json_response({"object": "list", "data": data, "has_more": start + limit < len(newest_first)})

"""HTTP functions: streaming both ways, routes that compete, failures."""

import asyncio
import hashlib
import os
from collections.abc import AsyncIterator

import azure.durable_functions as df
import azure.functions as func
from azurefunctions.extensions.http.fastapi import JSONResponse, Request, Response, StreamingResponse
from starlette.requests import ClientDisconnect

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)
MEGABYTE = b"0123456789abcdef" * 65536
seen = {"uploads_begun": 0, "disconnects": 0, "streams_closed": 0}


@blueprint.route(route="digest", methods=["POST", "PUT"])
async def digest(req: Request) -> Response:
    """Reads a body of any size in pieces and answers its size and digest."""
    size, sha = 0, hashlib.sha256()
    try:
        async for part in req.stream():
            seen["uploads_begun"] += size == 0
            size += len(part)
            sha.update(part)
    except ClientDisconnect:
        seen["disconnects"] += 1
        raise
    return JSONResponse({"size": size, "sha256": sha.hexdigest(), "type": req.headers.get("content-type")})


@blueprint.route(route="stream/{megabytes:int}", methods=["GET"])
async def stream(req: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        try:
            for _ in range(int(req.path_params["megabytes"])):
                yield MEGABYTE
        finally:
            seen["streams_closed"] += 1

    return StreamingResponse(parts(), media_type="application/octet-stream")


@blueprint.route(route="broken-stream", methods=["GET"])
async def broken_stream(req: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        yield b"the first half"
        raise RuntimeError("the second half is lost")

    return StreamingResponse(parts())


@blueprint.route(route="reject", methods=["POST"])
async def reject(req: Request) -> Response:
    """Answers without reading the body."""
    return Response(status_code=413, content=b"too large for me")


@blueprint.route(route="files/{name}", methods=["GET"])
async def file_by_name(req: Request) -> Response:
    return JSONResponse({"function": "file_by_name", **req.path_params})


@blueprint.route(route="files/{number:int}", methods=["GET"])
async def file_by_number(req: Request) -> Response:
    return JSONResponse({"function": "file_by_number", **req.path_params})


@blueprint.route(route="files/latest", methods=["GET"])
async def file_latest(req: Request) -> Response:
    return JSONResponse({"function": "file_latest", **req.path_params})


@blueprint.route(route="files/{*rest}", methods=["GET", "DELETE"])
async def file_rest(req: Request) -> Response:
    return JSONResponse({"function": "file_rest", **req.path_params})


@blueprint.route(route="echo", methods=["GET", "HEAD"])
async def echo(req: Request) -> Response:
    response = JSONResponse({"url": str(req.url), "query": dict(req.query_params)})
    response.headers.append("set-cookie", "a=1")
    response.headers.append("set-cookie", "b=2")
    return response


@blueprint.route(route="seen", methods=["GET"])
async def what_was_seen(req: Request) -> Response:
    return JSONResponse(seen)


@blueprint.route(route="fail", methods=["GET"])
async def fail(req: Request) -> Response:
    raise ValueError("this function always fails")


@blueprint.route(route="exit", methods=["GET"])
async def exits(req: Request) -> Response:
    raise SystemExit(3)


@blueprint.route(route="slow", methods=["GET"])
async def slow(req: Request) -> Response:
    """Outlasts the functionTimeout of host.json."""
    await asyncio.sleep(60)
    return Response(content=b"too late")


@blueprint.route(route="off", methods=["GET"])
async def switched_off(req: Request) -> Response:
    return Response(content=b"on")


@blueprint.route(route="settings/{name}", methods=["GET"])
async def setting(req: Request) -> Response:
    return JSONResponse({"value": os.environ.get(req.path_params["name"])})


@blueprint.route(route="docs", methods=["GET"])
async def never_called(req: Request) -> Response:
    """The web framework below the extension keeps this path for itself."""
    return Response(content=b"not reached")

"""The calls of Postern that the demo makes, the way any client would make them."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import aiohttp
import msgspec

from local.demo.trouble import DemoFailed
from local.demo.views import JobView, ReportView

_PIECE_BYTES = 64 * 1024
_TRIES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Postern:
    """One tenant's way in. Everything here raises `DemoFailed` for an answer that is no success."""

    session: aiohttp.ClientSession
    base: str
    key: str

    async def submit(self, body: Mapping[str, object]) -> str:
        """The new job's id."""
        answer = await self._call("POST", "/v1/jobs", body=body)
        return str(msgspec.json.decode(answer)["id"])

    async def upload(self, file: Path) -> str:
        """The id under which a job may use the file's content."""
        answer = await self._call("POST", "/v1/uploads", body={"filename": file.name})
        place: dict[str, Any] = msgspec.json.decode(answer)
        with file.open("rb") as content:
            async with self.session.put(place["url"], data=content, headers=place["headers"]) as response:
                await _succeeded(response, f"PUT of {file.name} to the upload's address")
        return str(place["upload_id"])

    async def job(self, job_id: str) -> JobView:
        return msgspec.json.decode(await self._call("GET", f"/v1/jobs/{job_id}"), type=JobView)

    async def report(self, job_id: str) -> tuple[ReportView, bytes]:
        """The reconciliation, read and as it came."""
        content = await self._call("GET", f"/v1/jobs/{job_id}/report")
        return msgspec.json.decode(content, type=ReportView), content

    async def download_results(self, job_id: str, form: str, file: Path) -> None:
        """Stream the results into `file`, whatever their size."""
        path = f"/v1/jobs/{job_id}/results"
        async with self.session.get(
            self.base + path, params={"format": form}, headers=self._headers()
        ) as response:
            await _succeeded(response, f"GET {path}")
            with file.open("wb") as out:
                async for piece in response.content.iter_chunked(_PIECE_BYTES):
                    out.write(piece)

    async def _call(self, method: str, path: str, *, body: Mapping[str, object] | None = None) -> bytes:
        """Asks again as long as the answer is to come back later, which on a busy machine happens."""
        data = None if body is None else msgspec.json.encode(body)
        headers = self._headers() | {"idempotency-key": uuid.uuid4().hex}
        for tries_left in reversed(range(_TRIES)):
            async with self.session.request(method, self.base + path, data=data, headers=headers) as response:
                if response.status != HTTPStatus.SERVICE_UNAVAILABLE or not tries_left:
                    await _succeeded(response, f"{method} {path}")
                    return await response.read()
                wait = float(response.headers.get("retry-after", "1"))
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}", "content-type": "application/json"}


async def _succeeded(response: aiohttp.ClientResponse, call: str) -> None:
    if response.status >= 300:
        said = (await response.text())[:1000]
        raise DemoFailed(f"{call} was answered {response.status}: {said}")

"""Postern as a client sees it, in so far as the benchmarks need it."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

_FINISHED: Final = frozenset({"completed", "partial", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Client:
    session: aiohttp.ClientSession
    http: str
    key: str

    async def get(self, path: str) -> dict[str, Any]:
        async with self.session.get(f"{self.http}{path}", headers=self._headers) as answer:
            answer.raise_for_status()
            found: dict[str, Any] = await answer.json()
            return found

    async def post(
        self,
        path: str,
        body: Mapping[str, Any] | bytes | AsyncIterator[bytes],
        more: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """`more` are further headers."""
        given = {"json": body} if isinstance(body, Mapping) else {"data": body}
        headers = {**self._headers, **(more or {})}
        async with self.session.post(f"{self.http}{path}", headers=headers, **given) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"POST {path}: {answer.status} {await answer.text()}")
            found: dict[str, Any] = await answer.json()
            return found

    async def upload(self, content: AsyncIterator[bytes]) -> str:
        """Straight to storage in blocks, as large uploads go; the upload's id."""
        made = await self.post("/v1/uploads", {"filename": "bench.jsonl"})
        blocks: list[str] = []
        async for block in content:
            name = f"{len(blocks):08}".encode().hex()
            await self._put(f"{made['url']}&comp=block&blockid={name}", block)
            blocks.append(f"<Latest>{name}</Latest>")
        await self._put(f"{made['url']}&comp=blocklist", f"<BlockList>{''.join(blocks)}</BlockList>".encode())
        return str(made["upload_id"])

    async def finished(self, job: str) -> dict[str, Any]:
        """The job, once it is."""
        while True:
            found = await self.get(f"/v1/jobs/{job}")
            if found["status"] in _FINISHED:
                return found
            await asyncio.sleep(0.2)

    async def download(self, path: str) -> int:
        """Read an answer as it comes; its bytes."""
        size = 0
        async with self.session.get(f"{self.http}{path}", headers=self._headers) as answer:
            answer.raise_for_status()
            async for piece in answer.content.iter_any():
                size += len(piece)
        return size

    async def _put(self, url: str, content: bytes) -> None:
        async with self.session.put(url, data=content) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"PUT of a block: {answer.status} {await answer.text()}")

    @property
    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"}


async def delays(client: Client, path: str, found: list[float], *, every: float = 0.05) -> None:
    """Ask for `path` again and again until cancelled, noting the seconds until each answer."""
    while True:
        begun = time.perf_counter()
        await client.get(path)
        found.append(time.perf_counter() - begun)
        await asyncio.sleep(every)

"""What tests of batches have in common: making input, waiting for the end, reading rows."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI
from openai.types import Batch

WAIT_SECONDS = 60.0
TERMINAL = {"completed", "failed", "expired", "cancelled"}

type Row = dict[str, Any]


def a_line(custom_id: str, text: str = "One. Two. Three.", **body: object) -> Row:
    asked = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": text}], **body}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": asked}


def some_lines(number: int) -> list[Row]:
    return [a_line(f"r-{n}", f"Ticket {n}. The printer is on fire. It cost 100 EUR.") for n in range(number)]


def jsonl(lines: list[Row]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


async def upload(client: AsyncOpenAI, lines: list[Row] | bytes) -> str:
    content = lines if isinstance(lines, bytes) else jsonl(lines)
    return (await client.files.create(file=("input.jsonl", content), purpose="batch")).id


async def create(client: AsyncOpenAI, lines: list[Row] | bytes, **metadata: str) -> Batch:
    return await client.batches.create(
        input_file_id=await upload(client, lines),
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata=metadata or None,
    )


async def run(client: AsyncOpenAI, lines: list[Row] | bytes) -> Batch:
    return await ended(client, (await create(client, lines)).id)


async def ended(client: AsyncOpenAI, batch_id: str) -> Batch:
    return await until(client, batch_id, lambda batch: batch.status in TERMINAL)


async def until(client: AsyncOpenAI, batch_id: str, holds: Callable[[Batch], bool]) -> Batch:
    """Poll until it holds, or fail with what was seen last."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            batch = await client.batches.retrieve(batch_id)
            if holds(batch):
                return batch
            await asyncio.sleep(0.01)


async def content(client: AsyncOpenAI, file_id: str | None) -> bytes:
    """Nothing, where there is no file."""
    return (await client.files.content(file_id)).content if file_id else b""


async def rows(client: AsyncOpenAI, file_id: str | None) -> list[Row]:
    return [json.loads(line) for line in (await content(client, file_id)).split(b"\n") if line]


async def output(client: AsyncOpenAI, batch: Batch) -> list[Row]:
    return await rows(client, batch.output_file_id)


async def errors(client: AsyncOpenAI, batch: Batch) -> list[Row]:
    return await rows(client, batch.error_file_id)


def message(row: Row) -> str:
    return str(row["response"]["body"]["choices"][0]["message"]["content"])


def counts(batch: Batch) -> tuple[int, int, int]:
    """Total, completed, failed; Azure does not know them at first."""
    seen = batch.request_counts
    assert seen is not None
    return seen.total or 0, seen.completed or 0, seen.failed or 0

"""Chunks for the batch suites, and what comes back for them."""

from collections.abc import Iterable
from typing import Final

from shared.domain.catalog import Endpoint
from shared.domain.ids import ChunkKey, FileId, RequestKey
from shared.domain.rows import Row
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch
from tests.contract.batching.service import Service
from tests.support.chunks import chunk_input

KEY: Final = ChunkKey("job_1-0-1-1")


def keys(numbers: Iterable[int], run: str = "run") -> list[RequestKey]:
    """Keys of the requests of `input_of`, by their place."""
    return [RequestKey(f"{run}-{n}") for n in numbers]


def lines_of(provider: BatchProvider, *prompts: str, run: str = "run") -> bytes:
    return b"".join(
        provider.write_line(
            key,
            Endpoint.CHAT,
            {"messages": [{"role": "user", "content": prompt}], "max_completion_tokens": 400},
        )
        for key, prompt in zip(keys(range(len(prompts)), run), prompts, strict=True)
    )


def input_of(provider: BatchProvider, *prompts: str, key: ChunkKey = KEY, run: str = "run") -> ChunkInput:
    return chunk_input(key, lines_of(provider, *(prompts or ("hello",)), run=run))


async def hand_over(service: Service, chunk: ChunkInput) -> FileId:
    """Staged, from where the planner leaves it."""
    await service.store(chunk)
    return (await service.provider.stage(chunk)).id


async def stage(service: Service, *prompts: str) -> FileId:
    return await hand_over(service, input_of(service.provider, *prompts))


async def create(service: Service, *prompts: str) -> RemoteBatch:
    chunk = input_of(service.provider, *prompts)
    return await service.provider.create(chunk, await hand_over(service, chunk))


async def download(provider: BatchProvider, file: FileId) -> bytes:
    return b"".join([piece async for piece in provider.download(file)])


async def finished(service: Service, *prompts: str) -> tuple[RemoteBatch, list[Row]]:
    """A batch of these prompts that has ended, and every row there is of it."""
    batch = await create(service, *prompts)
    await service.finish(batch.id)
    return await harvest(service.provider, batch)


async def harvest(provider: BatchProvider, batch: RemoteBatch) -> tuple[RemoteBatch, list[Row]]:
    ended = await provider.retrieve(batch.id)
    contents = [await download(provider, file) for file in (ended.output_file, ended.error_file) if file]
    lines = [line for content in contents for line in content.split(b"\n") if line]
    return ended, [provider.read_row(Endpoint.CHAT, line) for line in lines]

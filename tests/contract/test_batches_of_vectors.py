"""Batches of embeddings, asked of every provider that makes them in batches."""

import json
from collections.abc import AsyncIterator

import pytest

from shared.domain.catalog import Endpoint
from shared.domain.rows import RowKind
from tests.contract.batching import openai
from tests.contract.batching.chunks import KEY, download, hand_over, keys
from tests.contract.batching.compatible import compatible
from tests.contract.batching.service import Make, Service
from tests.local.simulator.process import Simulator
from tests.support.chunks import chunk_input

pytestmark = pytest.mark.stack


@pytest.fixture(
    params=[
        pytest.param(openai.openai(), id="openai"),
        pytest.param(compatible, id="openai_compatible"),
    ]
)
async def service(request: pytest.FixtureRequest, batch_simulator: Simulator) -> AsyncIterator[Service]:
    make: Make = request.param
    async with make(batch_simulator) as made:
        yield made


async def test_every_text_gets_its_vector(service: Service) -> None:
    provider = service.provider
    assert Endpoint.EMBEDDINGS in provider.traits.endpoints
    lines = [
        provider.write_line(key, Endpoint.EMBEDDINGS, {"input": f"text {key}"}) for key in keys(range(3))
    ]
    chunk = chunk_input(KEY, b"".join(lines), endpoint=Endpoint.EMBEDDINGS)
    batch = await provider.create(chunk, await hand_over(service, chunk))
    await service.finish(batch.id)

    ended = await provider.retrieve(batch.id)

    assert ended.output_file is not None
    content = await download(provider, ended.output_file)
    rows = [provider.read_row(Endpoint.EMBEDDINGS, line) for line in content.split(b"\n") if line]
    assert sorted(row.key or "" for row in rows) == keys(range(3))
    assert {row.kind for row in rows} == {RowKind.ANSWER}
    assert all(len(json.loads(row.output or b"[]")) > 8 for row in rows)
    assert all(row.usage is not None and row.usage.input > 0 for row in rows)

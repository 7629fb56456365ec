"""One simulator for the whole run, cleared between tests; clients that never retry behind our back."""

from collections.abc import AsyncIterator, Iterator

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI

from tests.local.simulator.process import Simulator


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    simulator = Simulator(data=tmp_path_factory.mktemp("simulator"))
    simulator.start()
    yield simulator
    simulator.stop()
    assert "Traceback" not in (simulator.data / "log").read_text()


@pytest.fixture
def simulator(running: Simulator) -> Iterator[Simulator]:
    yield running
    running.send("DELETE", "rules")
    running.send("DELETE", "quota")
    running.send("DELETE", "journal")
    running.send("DELETE", "events")


@pytest.fixture
async def azure(simulator: Simulator) -> AsyncIterator[AsyncAzureOpenAI]:
    async with azure_client(simulator) as client:
        yield client


@pytest.fixture
async def openai(simulator: Simulator) -> AsyncIterator[AsyncOpenAI]:
    async with AsyncOpenAI(base_url=f"{simulator.url}/openai/v1", api_key="key", max_retries=0) as client:
        yield client


def azure_client(simulator: Simulator) -> AsyncAzureOpenAI:
    return AsyncAzureOpenAI(
        azure_endpoint=f"{simulator.url}/azure", api_version="2024-10-21", api_key="key", max_retries=0
    )

"""The sample app, run by the local host once for all tests of a session."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.local.host.host_process import HERE, HostProcess
from tests.local.host.trigger_stage import TriggerStage, trigger_stage
from tests.support.azurite import Azurite


@pytest.fixture(scope="session")
def timer_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the sample app's timers write."""
    return tmp_path_factory.mktemp("timers") / "log.jsonl"


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory, timer_log: Path) -> Iterator[HostProcess]:
    settings = {
        "SAMPLE_LOG": str(timer_log),
        "SAMPLE_SCHEDULE": "*/1 * * * * *",
        "AzureWebJobs.switched_off.Disabled": "true",
        "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "60000000",
    }
    host = HostProcess(HERE / "sample_app", folder=tmp_path_factory.mktemp("sample"), settings=settings)
    try:
        host.wait_until_ready()
        yield host
    finally:
        host.end()


@pytest.fixture
async def http(sample: HostProcess) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of the sample app; paths are relative."""
    async with aiohttp.ClientSession(sample.url) as session:
        yield session


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory, azurite: Azurite) -> Iterator[TriggerStage]:
    """The trigger app, run by a host that its tests may kill and start again."""
    with trigger_stage(tmp_path_factory.mktemp("stage"), azurite) as stage:
        yield stage

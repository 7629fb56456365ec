"""What the batch suites share: one simulator in a process of its own, and every provider in turn."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.contract.batching.providers import PROVIDERS
from tests.contract.batching.service import Make, Service
from tests.local.simulator.process import Simulator
from tests.support.azurite import is_installed


@pytest.fixture(scope="session")
def batch_simulator(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Simulator]:
    storage = request.getfixturevalue("azurite").connection_string if is_installed() else None
    started = Simulator(data=tmp_path_factory.mktemp("batches"), storage=storage)
    started.start()
    yield started
    started.stop()


@pytest.fixture(params=PROVIDERS)
async def service(request: pytest.FixtureRequest, batch_simulator: Simulator) -> AsyncIterator[Service]:
    make: Make = request.param
    async with make(batch_simulator) as made:
        yield made

"""One local stack for the session, who calls it, and the provider behind it."""

import shutil
import uuid
from collections.abc import Iterator

import pytest

from local.stack import Stack, start_stack
from tests.integration.catalogs import KEYS, write_catalog
from tests.integration.postern import Caller
from tests.integration.provider import Provider
from tests.integration.storage import Storage
from tests.integration.tenants import Belongings


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    if shutil.which("node") is None:
        pytest.skip("the local stack needs Node.js, which is not on the path")
    with start_stack(catalog=write_catalog(tmp_path_factory.mktemp("catalog"))) as stack:
        yield stack


@pytest.fixture(scope="session")
def support(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["support"]) as caller:
        yield caller


@pytest.fixture(scope="session")
def retail(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["retail"]) as caller:
        yield caller


@pytest.fixture(scope="session")
def strict(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["strict"]) as caller:
        yield caller


@pytest.fixture(scope="session")
def ours(stack: Stack, support: Caller) -> Belongings:
    """Things of `support`, of every kind."""
    return Belongings.of(stack, support, "support")


@pytest.fixture(scope="session")
def hidden(stack: Stack, retail: Caller) -> Belongings:
    """Things of `retail`, which nobody else may see."""
    return Belongings.of(stack, retail, "retail")


@pytest.fixture(scope="session")
def operators(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, KEYS["operators"]) as caller:
        yield caller


@pytest.fixture(scope="session")
def stranger(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, None) as caller:
        yield caller


@pytest.fixture(scope="session")
def simulator(stack: Stack) -> Iterator[Provider]:
    provider = Provider(stack.simulator)
    yield provider
    provider.close()


@pytest.fixture(scope="session")
def storage(stack: Stack) -> Storage:
    return Storage(stack.storage)


@pytest.fixture
def provider(simulator: Provider) -> Iterator[Provider]:
    """The simulator without rules, before and after."""
    simulator.clear()
    yield simulator
    simulator.clear()


@pytest.fixture
def word() -> str:
    """A word that occurs nowhere else, so that a rule finds this test's requests only."""
    return f"word{uuid.uuid4().hex[:12]}"

"""One stack for all tests of dropped documents."""

from collections.abc import Iterator

import pytest

from local.stack import Stack, start_stack
from tests.e2e.documents_support import SETTINGS, Lane, write_catalog
from tests.support.azurite import PROGRAM


@pytest.fixture(scope="package")
def document_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    if not PROGRAM.exists():
        pytest.skip("Azurite is not installed; run `make install`")
    catalog = write_catalog(tmp_path_factory.mktemp("catalog"))
    with start_stack(tmp_path_factory.mktemp("documents"), SETTINGS, catalog) as stack:
        yield stack


@pytest.fixture(scope="package")
def every_lane(document_stack: Stack) -> Iterator[Lane]:
    lane = Lane(document_stack)
    yield lane
    lane.close()


@pytest.fixture
def lane(every_lane: Lane) -> Iterator[Lane]:
    """Without rules and mishaps, before and after."""
    every_lane.provider.clear()
    every_lane.stack.turn_knobs()
    yield every_lane
    every_lane.provider.clear()
    every_lane.stack.turn_knobs()

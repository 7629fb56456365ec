"""The result of a batch lies in our own storage: its event ends the wait, not the next look."""

from collections.abc import Iterator

import pytest

from local.stack import Stack, start_stack
from tests.integration.catalogs import KEYS, write_catalog
from tests.integration.postern import Caller, chat
from tests.integration.provider import Provider

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

# Without the event nothing would be seen before the test has given up.
SETTINGS = {"POSTERN_POLL_SECONDS": "3600"}
PATIENCE = 240


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    catalog = write_catalog(tmp_path_factory.mktemp("catalog"))
    with start_stack(settings=SETTINGS, catalog=catalog) as stack:
        yield stack


def test_a_result_that_is_written_ends_the_wait_of_its_job(stack: Stack) -> None:
    provider = Provider(stack.simulator)
    provider.batch("awaited", "completed", after_seconds=5)
    with Caller(stack.http, KEYS["support"]) as support:
        job = support.submitted(chat("awaited"), alias="own-storage")

        done = support.finished(job, seconds=PATIENCE)

        [row] = support.results(done)
    looks = provider.journal(operation="retrieve", batch_id=done["chunks"][0]["batch_id"])
    provider.close()
    assert (done["status"], row["outcome"]) == ("completed", "succeeded")
    assert len(looks) <= 4

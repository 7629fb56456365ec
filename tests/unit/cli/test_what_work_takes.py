"""The figures that `postern capacity` reckons with, counted on the whole app."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from cli.capacity import limits
from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.tables import MemoryTables
from shared.services.policy import Policy
from tests.support.dropping import DocumentWorld
from tests.support.world import World, a_body

DOCUMENTS = 20
# The figures may be too high by this, never too low: a plan must not depend on a saving of last week.
TOO_HIGH = 1.6
TABLE_VERBS = ("get", "insert", "replace", "put", "delete", "scan")
BLOB_VERBS = ("head", "read", "write", "copy", "delete", "list", "page")


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Calls of the stores, by `tables/TABLE` and `blobs`."""
    counted: Counter[str] = Counter()

    def watch(store: type, verb: str, sort: str) -> None:
        real = getattr(store, verb)

        def watched(self: Any, *arguments: Any, **named: Any) -> Any:
            counted[f"{sort}/{arguments[0]}" if sort == "tables" else sort] += 1
            return real(self, *arguments, **named)

        monkeypatch.setattr(store, verb, watched)

    for verb in TABLE_VERBS:
        watch(MemoryTables, verb, "tables")
    for verb in BLOB_VERBS:
        watch(MemoryBlobs, verb, "blobs")
    return counted


def of_tables(count: Counter[str]) -> int:
    return sum(calls for name, calls in count.items() if name.startswith("tables/"))


def reckoned_with(counted: float, figure: int) -> bool:
    return counted <= figure <= TOO_HIGH * counted


async def test_a_document(count: Counter[str]) -> None:
    world = DocumentWorld()
    for n in range(DOCUMENTS):
        await world.claim(f"support/notes/{n}.txt", f"Text {n}.".encode())
    await world.deliver()

    assert reckoned_with(of_tables(count) / DOCUMENTS, limits.TABLE_OPERATIONS_OF_A_DOCUMENT)
    assert reckoned_with(count["tables/documents"] / DOCUMENTS, limits.TENANT_OPERATIONS_OF_A_DOCUMENT)
    # One of them is the drop itself.
    assert reckoned_with(count["blobs"] / DOCUMENTS - 1, limits.BLOB_OPERATIONS_OF_A_DOCUMENT)


async def operations_of_a_job(count: Counter[str], *, hours: int) -> Counter[str]:
    count.clear()
    world = World(policy=Policy(poll=timedelta(minutes=5), create_timeout=timedelta(seconds=30)))
    world.provider.habits.runs_for = timedelta(hours=hours)
    await world.submit(a_body([f"text {n}" for n in range(30)]))
    await world.run()
    return Counter(count)


async def test_a_job_and_each_look_at_its_batch(count: Counter[str]) -> None:
    short = await operations_of_a_job(count, hours=1)
    long = await operations_of_a_job(count, hours=11)
    looks = 10 * 3600 / limits.SECONDS_BETWEEN_LOOKS

    of_a_look = (of_tables(long) - of_tables(short)) / looks
    of_pulses = (long["tables/pulses"] - short["tables/pulses"]) / looks
    of_the_job = of_tables(short) - of_a_look * 3600 / limits.SECONDS_BETWEEN_LOOKS

    assert reckoned_with(of_a_look, limits.TABLE_OPERATIONS_OF_A_LOOK)
    assert reckoned_with(of_pulses, limits.PULSE_OPERATIONS_OF_A_LOOK)
    assert reckoned_with(of_the_job, limits.TABLE_OPERATIONS_OF_A_JOB)
    assert reckoned_with(long["blobs"], limits.BLOB_OPERATIONS_OF_A_JOB)
    assert short["blobs"] == long["blobs"]

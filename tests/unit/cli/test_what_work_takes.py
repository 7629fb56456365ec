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


async def test_a_document(count: Counter[str]) -> None:
    world = DocumentWorld()
    for n in range(DOCUMENTS):
        await world.claim(f"support/notes/{n}.txt", f"Text {n}.".encode())
    await world.deliver()

    assert of_tables(count) / DOCUMENTS == pytest.approx(limits.TABLE_OPERATIONS_OF_A_DOCUMENT, rel=0.1)
    of_the_tenant = count["tables/documents"] / DOCUMENTS
    assert of_the_tenant == pytest.approx(limits.TENANT_OPERATIONS_OF_A_DOCUMENT, rel=0.2)
    # One of them is the drop itself.
    assert count["blobs"] / DOCUMENTS - 1 == pytest.approx(limits.BLOB_OPERATIONS_OF_A_DOCUMENT, rel=0.2)


async def jobs_operations(count: Counter[str], *, hours: int) -> Counter[str]:
    count.clear()
    world = World(policy=Policy(poll=timedelta(minutes=5), create_timeout=timedelta(seconds=30)))
    world.provider.habits.runs_for = timedelta(hours=hours)
    await world.submit(a_body([f"text {n}" for n in range(30)]))
    await world.run()
    return Counter(count)


async def test_a_job_and_each_look_at_its_batch(count: Counter[str]) -> None:
    short, long = await jobs_operations(count, hours=1), await jobs_operations(count, hours=11)
    looks = 10 * 3600 / limits.SECONDS_BETWEEN_LOOKS

    of_a_look = (of_tables(long) - of_tables(short)) / looks
    of_the_job = of_tables(short) - of_a_look * 3600 / limits.SECONDS_BETWEEN_LOOKS

    assert of_a_look == pytest.approx(limits.TABLE_OPERATIONS_OF_A_LOOK, rel=0.1)
    of_pulses = (long["tables/pulses"] - short["tables/pulses"]) / looks
    assert of_pulses == pytest.approx(limits.PULSE_OPERATIONS_OF_A_LOOK, rel=0.1)
    assert of_the_job == pytest.approx(limits.TABLE_OPERATIONS_OF_A_JOB, rel=0.2)
    assert short["blobs"] == long["blobs"] == pytest.approx(limits.BLOB_OPERATIONS_OF_A_JOB, rel=0.2)

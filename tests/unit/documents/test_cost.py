"""What a document costs in calls to storage and queue."""

import inspect
from collections import Counter
from typing import Any

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.queue import MemoryQueue
from shared.adapters.memory.tables import MemoryTables
from tests.support.dropping import DocumentWorld

KINDS = {MemoryBlobs: "blobs", MemoryTables: "tables", MemoryQueue: "queue"}


class Counted:
    """A port whose calls are counted by its kind."""

    def __init__(self, port: Any, calls: Counter[str]) -> None:
        self._port = port
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._port, name)
        if not (inspect.iscoroutinefunction(verb) or inspect.isasyncgenfunction(verb)):
            return verb

        def call(*args: Any, **more: Any) -> Any:
            self._calls[KINDS[type(self._port)]] += 1
            return verb(*args, **more)

        return call


async def test_what_a_document_costs_in_calls_to_storage_and_queue() -> None:
    """What a thousand documents cost is a thousand times this; what is added here should be worth it."""
    world = DocumentWorld()
    calls: Counter[str] = Counter()
    app = world.power_up(lambda port: Counted(port, calls) if type(port) in KINDS else port)
    await app.claim_document(await world.drop("support/notes/first.txt"))
    world.queue.receive()
    calls.clear()

    await app.claim_document(await world.drop("support/notes/a.txt"))
    claiming = calls.copy()
    calls.clear()
    delivery = world.queue.receive()
    assert delivery is not None
    await app.process_document(delivery.message.body)

    assert claiming == {"blobs": 1, "tables": 4, "queue": 1}
    assert calls == {"blobs": 4, "tables": 8}

"""Documents from their drop to their results, on a local stack of their own.

The model is the simulator with a set latency, on a deployment without a limit that is felt: what is measured is
what the app, its host, the storage and the queue can do on this machine, all of them together.
"""

import asyncio
import hashlib
import json
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import cpu, operations
from benchmarks.figures import Figures
from local.stack import Stack, start_stack

LATENCIES_MS: Final = (0, 500)
KEY: Final = "bench-key"
_DROPPERS: Final = 8
_LONGEST_SECONDS: Final = 1800.0


async def measure(figures: Figures, *, count: int) -> None:
    await asyncio.to_thread(operations.measure, figures)
    await asyncio.to_thread(_measure_stack, figures, count)


def _measure_stack(figures: Figures, count: int) -> None:
    with a_stack() as stack:
        drop_and_wait(stack, 5)  # what is opened once is open
        for latency in LATENCIES_MS:
            set_latency(stack, latency)
            before = _work(stack)
            took = drop_and_wait(stack, count)
            group = f"{count:,} documents through the local stack, {latency} ms a model call"
            figures.add(group, "a second", count / took, "documents/s")
            figures.add(group, "from the first drop to the last result", took, "s")
            for name, seconds in _work(stack).items():
                figures.add(group, f"{name}, a document", (seconds - before[name]) / count, "s of work")


@contextmanager
def a_stack(**settings: str) -> Iterator[Stack]:
    with tempfile.TemporaryDirectory(prefix="postern-") as folder:
        catalog = Path(folder) / "catalog.yaml"
        # JSON is YAML, and cannot go wrong by indentation.
        catalog.write_text(json.dumps(_catalog()))
        with start_stack(None, settings, catalog) as stack:
            yield stack


def drop_and_wait(stack: Stack, count: int) -> float:
    """Seconds from the first drop until every document has its result."""
    folder = f"support/notes/{uuid.uuid4().hex}/"
    with stack.container("documents") as documents, stack.container("results") as results:

        def drop(number: int) -> None:
            text = f"Note {number}. The pump on floor {number} is loud. Somebody should look at it.".encode()
            documents.upload_blob(f"{folder}{number}.txt", text)

        begun = time.perf_counter()
        with ThreadPoolExecutor(_DROPPERS) as pool:
            list(pool.map(drop, range(count)))
        while sum(1 for _ in results.list_blob_names(name_starts_with=folder)) < count:
            if time.perf_counter() - begun > _LONGEST_SECONDS:
                raise RuntimeError(f"{count} documents had no results after {_LONGEST_SECONDS:.0f} s")
            time.sleep(0.2)
        return time.perf_counter() - begun


def set_latency(stack: Stack, milliseconds: int) -> None:
    control(stack, "DELETE", "rules")
    if milliseconds:
        control(
            stack, "POST", "rules", [{"match": {"operation": "chat"}, "then": {"delay_ms": milliseconds}}]
        )


def control(stack: Stack, method: str, path: str, body: object = None) -> None:
    """Tell the simulator how to behave."""
    request = urllib.request.Request(
        f"{stack.simulator}/_sim/{path}",
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        response.read()


def _work(stack: Stack) -> dict[str, float]:
    """Seconds of work of each process so far."""
    return {name: cpu.seconds(pid) for name, pid in stack.pids().items() if name != "launcher"}


def _catalog() -> dict[str, object]:
    return {
        "tenants": {"support": {"keys": [f"sha256:{hashlib.sha256(KEY.encode()).hexdigest()}"]}},
        "deployments": {
            "wide": {
                "provider": "azure_openai",
                "endpoint": "${SIMULATOR_URL}/azure",
                "deployment": "wide",
                "model": "gpt-5-mini",
                "key_setting": "SIMULATOR_KEY",
                "limits": {"tokens_per_minute": 40_000_000, "share": 1},
            }
        },
        "aliases": {"summarize": {"minutes": ["wide"], "max_output_tokens": 200}},
        "pipelines": {"notes": {"task": "summarize", "alias": "summarize", "lane": "minutes"}},
    }

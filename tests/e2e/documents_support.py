"""The minutes lane from outside: files are dropped, results lie beside them, records tell the rest."""

import hashlib
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2
from azure.data.tables import TableClient, UpdateMode
from azure.servicebus import ServiceBusClient, ServiceBusSubQueue
from azure.storage.blob import ContainerClient

from local.stack import Stack
from tests.integration.postern import Caller, Json
from tests.integration.provider import Provider, eventually

PATIENCE = 180.0
FINISHED = frozenset({"completed", "failed"})
KEYS = {name: f"{name}-lane-key" for name in ("support", "retail", "operators")}
# A sweep looks at what has not moved for so long.
STUCK_SECONDS = 5
SETTINGS = {
    "POSTERN_STUCK_SECONDS": f"{STUCK_SECONDS}",
    "POSTERN_SWEEP_SCHEDULE": "*/3 * * * * *",
    "POSTERN_DOCUMENT_LEASE_SECONDS": "15",
    "POSTERN_DOCUMENT_BACKOFF_SECONDS": "1",
    "POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS": "5",
}
# Trouble that a whole deployment feels has a deployment of its own, so that it stays where it was made.
PIPELINES = {"notes": "wide", "shaky": "shaky", "shared": "narrow"}
INVOICE = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "total": {"type": "number"}},
    "required": ["number", "total"],
    "additionalProperties": False,
}
_DROPPERS = 8


class Lane:
    """A stack with dropped documents, as one sees it who holds every key."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.provider = Provider(stack.simulator)
        self.support = Caller(stack.http, KEYS["support"])
        self.retail = Caller(stack.http, KEYS["retail"])
        self.operators = Caller(stack.http, KEYS["operators"])
        self._documents = stack.container("documents")
        self._results = stack.container("results")

    def close(self) -> None:
        for caller in (self.support, self.retail, self.operators):
            caller.http.close()
        self.provider.close()
        self._documents.close()
        self._results.close()

    # What is dropped

    def drop(self, path: str, content: bytes, **metadata: str) -> str:
        """The ETag of the version that lies there now."""
        with self._documents.get_blob_client(path) as blob:
            return str(blob.upload_blob(content, overwrite=True, metadata=metadata)["etag"])

    def drop_all(self, contents: Mapping[str, bytes]) -> None:
        """Several at a time, in no promised order."""
        with ThreadPoolExecutor(_DROPPERS) as pool:
            list(pool.map(lambda item: self.drop(*item), contents.items()))

    def remove(self, path: str) -> None:
        self._documents.delete_blob(path)

    def lies_there(self, path: str) -> bool:
        return bool(self._documents.get_blob_client(path).exists())

    # What came of it

    def result(self, path: str) -> Json | None:
        return self.stack.result(path)

    def lines(self, path: str) -> list[Json] | None:
        """The pieces of the document at `path`, as a search index loads them; None when there are none."""
        with self._results.get_blob_client(f"{path}.jsonl") as blob:
            if not blob.exists():
                return None
            content = blob.download_blob().readall()
        return [json.loads(line) for line in content.splitlines()]

    def results(self, folder: str) -> set[str]:
        """The paths below `folder` that have a result."""
        return {name.removesuffix(".json") for name in _names(self._results, folder)}

    def records(self, folder: str, *, caller: Caller | None = None) -> list[Json]:
        """The records of every version that was dropped below `folder`, the newest first."""
        pipeline = folder.split("/")[1]
        caller = caller or self.operators
        found: list[Json] = []
        query: dict[str, str | int] = {"pipeline": pipeline, "limit": 200}
        while True:
            page = answered(caller, "/v1/documents", **query)
            found += page["data"]
            if not page["has_more"]:
                return [each for each in found if each["path"].startswith(folder)]
            query["after"] = page["next"]

    def record(self, path: str) -> Json:
        """The record of the only version dropped at `path`, once there is one."""
        [found] = once(lambda: self.records(path))
        return found

    def finished(self, path: str, *, seconds: float = PATIENCE) -> Json:
        """The same, once it has its end."""
        [found] = self.all_finished(path, 1, seconds=seconds)
        return found

    def all_finished(self, folder: str, count: int, *, seconds: float = PATIENCE) -> list[Json]:
        """The records of everything below `folder`, once `count` versions have their end; fails when late."""
        deadline = time.monotonic() + seconds
        while True:
            # A look at the results is cheap; not every version leaves one, so that now and then the records tell.
            self._wait_for_results(folder, count, seconds=3)
            found = patiently(lambda: self.records(folder))
            if len(found) >= count and all(each["status"] in FINISHED for each in found):
                assert len(found) == count, f"{len(found)} records instead of {count}"
                return found
            states = dict(Counter(each["status"] for each in found))
            assert time.monotonic() < deadline, f"after {seconds:.0f} s: {states} of {count}; {self.counts()}"
            time.sleep(0.2)

    def _wait_for_results(self, folder: str, count: int, *, seconds: float) -> None:
        until = time.monotonic() + seconds
        while len(self.results(folder)) < count and time.monotonic() < until:
            time.sleep(0.3)

    def calls(self, records: Iterable[Json], *, operation: str = "chat") -> Counter[str]:
        """How often a model was called for each of them."""
        wanted = {record["id"] for record in records}
        journal = self.provider.journal(operation=operation)
        return Counter(e["correlation_id"] for e in journal if e["correlation_id"] in wanted)

    def called_for(self, records: Iterable[Json]) -> int:
        return sum(self.calls(records).values())

    def events(self, record: Json) -> list[Json]:
        return self.provider.events(f"documents/{record['id']}")

    def published(self, record: Json) -> list[Json]:
        """The same, once there are any."""
        return once(lambda: self.events(record))

    def booked(self, project: str, *, caller: Caller | None = None) -> Json:
        """What the ledger has for a project."""
        rows = answered(caller or self.support, "/v1/usage", by="project")["rows"]
        return next((row for row in rows if row["project"] == project), {"requests": 0})

    # The queue

    def counts(self) -> Json:
        """What the queue of documents holds."""
        port = urlsplit(self.stack.servicebus.split(";")[0].removeprefix("Endpoint=")).port
        response = httpx2.get(f"http://127.0.0.1:{port}/queues/documents", timeout=10)
        return dict(response.json())

    def dead_letters(self) -> list[tuple[str, str, str]]:
        """Body, reason and description of each message that was given up."""
        with (
            ServiceBusClient.from_connection_string(self.stack.servicebus) as client,
            client.get_queue_receiver("documents", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver,
        ):
            peeked = receiver.peek_messages(max_message_count=50)
            return [
                (b"".join(m.body).decode(), m.dead_letter_reason or "", m.dead_letter_error_description or "")
                for m in peeked
            ]

    # Trouble

    def lose_record(self, record: Json) -> None:
        """Make the record of a document one that nobody can read."""
        with TableClient.from_connection_string(self.stack.storage, "documents") as table:
            query = "PartitionKey eq @tenant"
            rows = table.query_entities(query, parameters={"tenant": record["tenant"]})
            [row] = [row for row in rows if str(row["RowKey"]).endswith(record["id"])]
            names = ("PartitionKey", "RowKey")
            table.update_entity({**{n: row[n] for n in names}, "Data": "?"}, mode=UpdateMode.REPLACE)

    def memory(self) -> float:
        """MB that the host and its children have at this moment, what they share counted once."""
        return sum(map(_own_memory, _family(self.stack.pids()["host"])))

    def kill(self, name: str) -> Callable[[], int]:
        """Kill one process hard; call what is returned to wait for the one in its place."""
        pid = self.stack.kill(name)
        return lambda: self.stack.wait_for_restart(name, pid)


@contextmanager
def watched(look: Callable[[], float], *, every: float = 0.1) -> Iterator[list[float]]:
    """What `look` finds while the block runs."""
    seen = [look()]
    over = threading.Event()

    def keep_looking() -> None:
        while not over.wait(every):
            seen.append(look())

    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(keep_looking)
        try:
            yield seen
        finally:
            over.set()
            looking.result()


def write_catalog(folder: Path) -> Path:
    """A catalogue file in `folder`."""
    file = folder / "catalog.yaml"
    (folder / "invoice.json").write_text(json.dumps(INVOICE))
    # JSON is YAML, and cannot go wrong by indentation.
    file.write_text(json.dumps(_catalog(), indent=1))
    return file


def answered(caller: Caller, path: str, **query: str | int) -> Json:
    response = caller.get(path, **query)
    assert response.status_code == 200, f"{response.status_code} {response.text}"
    return dict(response.json())


def patiently[T](call: Callable[[], T], *, seconds: float = PATIENCE) -> T:
    """What `call` answers, asked again while nobody is there to answer."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except (httpx2.TransportError, AssertionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def once[T](look: Callable[[], T]) -> T:
    """What `look` finds, as soon as that is something. Nobody being there to answer is nothing."""
    return eventually(lambda: patiently(look), seconds=PATIENCE)


def a_folder(tenant: str = "support", pipeline: str = "notes") -> str:
    """A folder that nobody else uses, with a slash at the end."""
    return f"{tenant}/{pipeline}/{uuid.uuid4().hex[:12]}/"


def texts(folder: str, count: int) -> dict[str, bytes]:
    """Documents that differ."""
    return {
        f"{folder}{n}.txt": f"Note {n} of {folder}. It has a second sentence.".encode() for n in range(count)
    }


def document_url(record: Json) -> str:
    return f"/v1/documents/{quote(record['id'])}"


def _names(container: ContainerClient, folder: str) -> list[str]:
    return [str(blob.name) for blob in container.list_blobs(name_starts_with=folder)]


def _family(pid: int) -> list[int]:
    """The process and whatever descends from it."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    found = [int(child) for file in children for child in _read(file).split()]
    return [pid, *(each for child in found for each in _family(child))]


def _own_memory(pid: int) -> float:
    rollup = _read(Path(f"/proc/{pid}/smaps_rollup"))
    shares = [int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")]
    return sum(shares) / 1024


def _read(file: Path) -> str:
    """Empty when the process has ended."""
    try:
        return file.read_text()
    except OSError:
        return ""


def _catalog() -> dict[str, Any]:
    return {
        "tenants": {name: _tenant(name) for name in KEYS},
        "deployments": {
            "wide": _deployment("wide", tokens_per_minute=4_000_000, share=1),
            "shaky": _deployment("shaky", tokens_per_minute=4_000_000, share=1),
            "narrow": _deployment("narrow", tokens_per_minute=160_000, share=1),
            "batch": _deployment("wide-batch", enqueued_tokens=5_000_000),
            "vectors": {**_deployment("vectors"), "model": "text-embedding-3-small"},
        },
        "aliases": {
            "vectors": {"minutes": ["vectors"]},
            "batched": {"minutes": ["wide"], "hours": ["batch"], "max_output_tokens": 100},
            **{name: {"minutes": [name], "max_output_tokens": 100} for name in PIPELINES.values()},
        },
        "pipelines": {
            **{
                name: {"task": "summarize", "alias": alias, "lane": "minutes", "prompt": "Summarize this."}
                for name, alias in PIPELINES.items()
            },
            "invoices": {"task": "extract", "alias": "wide", "lane": "minutes", "schema": "invoice.json"},
            "knowledge": {"task": "embed", "alias": "vectors", "lane": "minutes", "split_tokens": 16},
            "nightly": {
                "task": "summarize",
                "alias": "batched",
                "lane": "hours",
                "gather": "*/10 * * * * *",
                "deadline_hours": 1,
                "prompt": "Summarize this.",
            },
        },
    }


def _tenant(name: str) -> dict[str, Any]:
    key = f"sha256:{hashlib.sha256(KEYS[name].encode()).hexdigest()}"
    return {"keys": [key], "admin": True} if name == "operators" else {"keys": [key]}


def _deployment(name: str, **limits: float) -> dict[str, Any]:
    return {
        "provider": "azure_openai",
        "endpoint": "${SIMULATOR_URL}/azure",
        "deployment": name,
        "model": "gpt-5-mini",
        "key_setting": "SIMULATOR_KEY",
        "limits": limits,
    }

"""What is tried, in order. Each step says in a line what it has seen, or raises `Wrong`."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobServiceClient

from checks.canary.door import Door, Wrong, until

_READY_SECONDS: Final = 300.0
_TEXT: Final = (
    b"A canary went into the mine with the miners. While it sang, the air was good. "
    b"When it fell silent, everybody left at once."
)
_FINISHED: Final = frozenset({"completed", "partial", "failed", "cancelled"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """`seconds`: the patience with each lane. `until_finished`: wait for the batch's end, a day at most, instead
    of cancelling the job once the provider has it."""

    door: Door
    storage: BlobServiceClient
    tenant: str
    pipeline: str
    alias: str
    project: str
    seconds: float
    until_finished: bool

    def steps(self) -> Iterator[str]:
        yield self.ready()
        yield self.strangers_are_refused()
        yield self.document()
        yield self.job()

    def ready(self) -> str:
        def look() -> bool | None:
            return True if self.door.call("GET", "/readyz").status == 200 else None

        until("/readyz answers 200 (settings, roles and network are right)", look, seconds=_READY_SECONDS)
        return "ready: catalogue, tables and blobs can be reached"

    def strangers_are_refused(self) -> str:
        Door(base=self.door.base).expect(401, "GET", "/v1/jobs")
        return "refused: a call without a credential"

    def document(self) -> str:
        """Storage, its events, both queues, the synchronous model, the result."""
        path = f"{self.tenant}/{self.pipeline}/canary/{uuid.uuid4().hex}.txt"
        dropped = self.storage.get_blob_client("documents", path)
        dropped.upload_blob(_TEXT, metadata={"project": self.project, "owner": "canary"})
        result = until(f"the result of documents/{path}", lambda: self._result(path), seconds=self.seconds)
        if result["outcome"] != "succeeded":
            raise Wrong(f"the document is {result['outcome']}: {result['reason']} ({result['message']})")
        self.door.expect(204, "DELETE", f"/v1/documents/{result['document']['id']}")
        return f"document: answered by {result['model']} and erased again"

    def job(self) -> str:
        """The durable hub, the provider's files and batches, and the role for them."""
        asked = {"messages": [{"role": "user", "content": f"Summarize in a sentence: {_TEXT.decode()}"}]}
        body = {
            "alias": self.alias,
            "tags": {"project": self.project, "owner": "canary"},
            "requests": [{"custom_id": "canary", "body": asked}],
        }
        path = f"/v1/jobs/{self.door.expect(202, 'POST', '/v1/jobs', body)['id']}"
        if self.until_finished:
            return self._finished(path)
        batch = until(f"{path} has a batch at the provider", lambda: self._batch(path), seconds=self.seconds)
        self.door.expect(202, "POST", f"{path}/cancel")
        return f"job: its batch {batch} is at the provider; the job is cancelled again"

    def _finished(self, path: str) -> str:
        def look() -> Any:
            seen = self.door.expect(200, "GET", path)
            return seen if seen["status"] in _FINISHED else None

        job = until(f"{path} is finished", look, seconds=self.seconds)
        if job["status"] != "completed" or job["counts"]["succeeded"] != 1:
            raise Wrong(f"{path} is {job['status']}: {job['reasons'] or job['reason']}")
        if not self.door.expect(200, "GET", f"{path}/report")["balanced"]:
            raise Wrong(f"{path} does not add up")
        self.door.expect(204, "DELETE", path)
        return "job: completed, balanced and erased again"

    def _batch(self, path: str) -> str | None:
        job = self.door.expect(200, "GET", path)
        batches = [str(chunk["batch_id"]) for chunk in job["chunks"] if chunk["batch_id"]]
        if batches:
            return batches[0]
        if job["status"] in _FINISHED:
            raise Wrong(f"{path} is {job['status']} without a batch: {job['reason']} {job['errors']}")
        return None

    def _result(self, path: str) -> Any:
        try:
            content = self.storage.get_blob_client("results", f"{path}.json").download_blob().readall()
        except ResourceNotFoundError:
            return None
        return json.loads(content)

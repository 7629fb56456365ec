"""The provider simulator, as tests control it and look into it."""

import time
from collections.abc import Callable
from typing import Any

import httpx2

from tests.integration.postern import Json

PATIENCE = 60.0


class Provider:
    def __init__(self, simulator: str) -> None:
        self.control = httpx2.Client(base_url=f"{simulator}/_sim", timeout=30)

    def close(self) -> None:
        self.control.close()

    def rule(self, match: Json, then: Json, times: int | None = None) -> None:
        limited = {} if times is None else {"times": times}
        _ok(self.control.post("/rules", json=[{"match": match, "then": then, **limited}]))

    def answer(self, word: str, outcome: str, times: int | None = None, **then: Any) -> None:
        """Play `outcome` for every request whose text has `word`."""
        self.rule({"contains": word}, {"outcome": outcome, **then}, times)

    def batch(self, word: str, course: str, times: int | None = None, **then: Any) -> None:
        """Play `course` for every batch with a request whose text has `word`."""
        self.rule({"contains": word}, {"batch": course, **then}, times)

    def call(self, word: str, operation: str, times: int | None = None, **then: Any) -> None:
        """Play trouble for calls of one kind that concern a file with `word` in it."""
        self.rule({"contains": word, "operation": operation}, then, times)

    def played(self, word: str) -> int:
        """How often rules for `word` were used."""
        rules = _ok(self.control.get("/rules")).json()
        return sum(rule["used"] for rule in rules if rule["match"]["contains"] == word)

    def clear(self) -> None:
        _ok(self.control.delete("/rules"))

    def quota(self, model: str, tokens: int, refusal: str) -> None:
        limit = {
            "provider": "azure_openai",
            "model": model,
            "enqueued_tokens": tokens,
            "refusal": refusal,
        }
        _ok(self.control.post("/quota", json=limit))

    def no_quota(self) -> None:
        _ok(self.control.delete("/quota"))

    def advance(self, seconds: float) -> None:
        _ok(self.control.post("/clock", json={"advance_seconds": seconds}))

    def journal(self, **query: str) -> list[Json]:
        return list(_ok(self.control.get("/journal", params=query)).json())

    def created(self) -> list[Json]:
        """Batches that came into being, whether or not the caller heard of it."""
        return [entry for entry in self.journal(operation="create") if entry["batch_id"] is not None]

    def made_for(self, job: Json) -> list[str]:
        """Every batch that came into being for the job, known to it or not: its id is in the batch's key."""
        return [entry["batch_id"] for entry in self.created() if job["id"] in (entry["key"] or "")]

    def events(self, subject: str) -> list[Json]:
        return [
            event for event in _ok(self.control.get("/events")).json() if event["subject"].endswith(subject)
        ]

    def event(self, subject: str, kind: str) -> Json:
        """An event once it has been published; fails when it is not in time."""
        found = eventually(lambda: [e for e in self.events(subject) if e["type"] == kind])
        return dict(found[0])


def eventually[T](look: Callable[[], T], *, seconds: float = PATIENCE) -> T:
    """What `look` finds, as soon as that is something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"nothing after {seconds:.0f} s"
        time.sleep(0.1)
    return found


def _ok(response: httpx2.Response) -> httpx2.Response:
    assert response.is_success, response.text
    return response

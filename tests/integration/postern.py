"""A tenant's program as it would be written by somebody who knows only the contract."""

import json
import time
from collections.abc import Callable
from typing import Any, Self

import httpx2

type Json = dict[str, Any]

FINISHED = frozenset({"completed", "partial", "failed", "cancelled"})
OUTCOMES = ("succeeded", "refused", "truncated", "invalid", "failed", "expired", "cancelled")
PATIENCE = 90.0
BETWEEN_LOOKS = 0.1


class Caller:
    """Somebody with a key, or without one."""

    def __init__(self, http: str, key: str | None) -> None:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self.http = httpx2.Client(base_url=http, headers=headers, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def get(self, path: str, **query: str | int) -> httpx2.Response:
        return self.http.get(path, params=query)

    def post(self, path: str, body: object = None, **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.http.post(path, json={} if body is None else body, headers=named)

    def delete(self, path: str) -> httpx2.Response:
        return self.http.delete(path)

    def submitted(self, *requests: Json, alias: str = "summarize", **fields: object) -> Json:
        """The job that was made of `requests`, or of other `fields`."""
        body: Json = {"alias": alias, **({"requests": list(requests)} if requests else {}), **fields}
        response = self.post("/v1/jobs", body)
        assert response.status_code == 202, response.text
        return dict(response.json())

    def job(self, job: Json | str) -> Json:
        response = self.get(f"/v1/jobs/{_id(job)}")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def until(self, job: Json | str, holds: Callable[[Json], bool], *, seconds: float = PATIENCE) -> Json:
        """The job as soon as something holds for it; fails when it takes longer than `seconds`."""
        deadline = time.monotonic() + seconds
        while True:
            seen = self.job(job)
            assert_balanced(seen)
            if holds(seen):
                return seen
            assert time.monotonic() < deadline, f"after {seconds:.0f} s: {json.dumps(seen)}"
            time.sleep(BETWEEN_LOOKS)

    def finished(self, job: Json | str, *, seconds: float = PATIENCE) -> Json:
        return self.until(job, lambda seen: seen["status"] in FINISHED, seconds=seconds)

    def results(self, job: Json | str, **query: str) -> list[Json]:
        response = self.get(f"/v1/jobs/{_id(job)}/results", **query)
        assert response.status_code == 200, response.text
        return rows(response.content)

    def report(self, job: Json | str) -> Json:
        response = self.get(f"/v1/jobs/{_id(job)}/report")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def upload(self, content: bytes) -> str:
        """The id of an upload that holds `content`."""
        made = self.post("/v1/uploads", {"filename": "input.jsonl"}).json()
        put(made, content)
        return str(made["upload_id"])

    def refused(self, **body: object) -> Json:
        """The problem that a job with this body is answered with."""
        return problem(self.post("/v1/jobs", body))


def put(upload: Json, content: bytes) -> None:
    response = httpx2.request(
        upload["method"], upload["url"], headers=upload["headers"], content=content, timeout=60
    )
    assert response.status_code == 201, response.text


def chat(text: str, custom_id: str | None = None, **body: object) -> Json:
    """A request that asks for an answer to `text`."""
    named = {} if custom_id is None else {"custom_id": custom_id}
    return {**named, "body": {"messages": [{"role": "user", "content": text}], **body}}


def jsonl(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def rows(content: bytes) -> list[Json]:
    assert content == b"" or content.endswith(b"\n")
    return [json.loads(line) for line in content.split(b"\n")[:-1]]


def problem(response: httpx2.Response) -> Json:
    """The problem document of a refusal, which must have the promised form."""
    assert 400 <= response.status_code < 500, f"{response.status_code} {response.text[:500]}"
    assert response.headers["content-type"].split(";")[0] == "application/problem+json", response.text
    document: Json = response.json()
    assert document["status"] == response.status_code
    assert all(isinstance(document[name], str) and document[name] for name in ("type", "title", "detail"))
    for error in document.get("errors", []):
        assert set(error) >= {"line", "field", "message"}, error
    return document


def lines(document: Json) -> dict[int, str]:
    """The bad lines of a problem or a job, each with its field."""
    return {error["line"]: error["field"] for error in document["errors"]}


def assert_balanced(job: Json) -> None:
    """Whatever was submitted has an outcome or is pending, at every moment."""
    counts = job["counts"]
    if counts["submitted"] is not None:
        assert counts["pending"] + sum(counts[name] for name in OUTCOMES) == counts["submitted"], job


def _id(job: Json | str) -> str:
    return job if isinstance(job, str) else str(job["id"])

"""Bodies too large to be checked while the client waits, and bodies too large altogether."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.postern import Caller, chat, lines, problem

pytestmark = pytest.mark.stack

MEGABYTE = 1024 * 1024
PADDING = "Many words fill a page. " * 400


def large_body(*last: object, size: int = 9 * MEGABYTE) -> bytes:
    """A job of more than `size` bytes whose last requests are `last`."""
    asked: list[object] = [chat(f"{n}. {PADDING}") for n in range(size // len(PADDING) + 1)]
    return json.dumps({"alias": "summarize", "requests": asked + list(last)}).encode()


def test_a_large_body_is_checked_after_it_is_accepted(support: Caller) -> None:
    content = large_body({"body": "text"}, {"custom_id": "1", "body": {"messages": []}})
    count = len(json.loads(content)["requests"])

    accepted = support.http.post("/v1/jobs", content=content)

    assert accepted.status_code == 202
    job = support.finished(accepted.json())
    assert (job["status"], job["reason"]) == ("failed", "invalid_input")
    assert lines(job).keys() == {count - 1, count}
    assert lines(job)[count - 1] == "body"
    assert job["chunks"] == []


def test_a_large_body_without_mistakes_runs(support: Caller) -> None:
    content = large_body(chat("The very last request.", "last"))

    job = support.finished(support.http.post("/v1/jobs", content=content).json())

    assert job["status"] == "completed"
    assert support.results(job)[-1]["custom_id"] == "last"


def test_an_announced_body_above_32_megabytes_is_refused_before_it_is_sent(stack: Stack) -> None:
    with closing(HTTPConnection(urlsplit(stack.http).netloc, timeout=20)) as connection:
        connection.putrequest("POST", "/v1/jobs")
        connection.putheader("api-key", KEYS["support"])
        connection.putheader("content-length", str(33 * MEGABYTE))
        connection.endheaders(b"{")

        response = connection.getresponse()
        refusal = json.loads(response.read())

    assert (response.status, response.headers["content-type"]) == (413, "application/problem+json")
    assert "/v1/uploads" in refusal["detail"]


def test_a_streamed_body_above_32_megabytes_is_refused_and_the_way_named(support: Caller) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"alias": "summarize", "requests": ['
        for _ in range(33):
            yield b" " * MEGABYTE
        yield b"]}"

    refusal = problem(support.http.post("/v1/jobs", content=pieces()))

    assert refusal["status"] == 413
    assert "/v1/uploads" in refusal["detail"]


def test_a_body_of_just_under_32_megabytes_is_read(support: Caller) -> None:
    content = b'{"alias": "nowhere", "requests": [{"body": {}}]' + b" " * (32 * MEGABYTE - 60) + b"}"

    assert problem(support.http.post("/v1/jobs", content=content))["status"] == 404

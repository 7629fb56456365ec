"""What HTTP functions keep in memory: few large bodies at a time, and nothing of what was answered."""

import asyncio
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest
from azure_functions_runtime.http_v2 import http_coordinator  # type: ignore[import-untyped]
from starlette.requests import Request
from starlette.types import Message

from shared.triggers.edge import SMALL_BODY, whole_body
from shared.triggers.worker_memory import EVERY, AnsweredRequests
from shared.wire.problems import TooLarge


def a_request(*pieces: bytes, length: int | None = None) -> Request:
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        + [{"type": "http.request", "body": b"", "more_body": False}]
    )

    async def receive() -> Message:
        return next(messages)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def test_a_body_is_put_together() -> None:
    async with whole_body(a_request(b"ab", b"", b"c", length=3), instead="") as content:
        assert content == b"abc"


@pytest.mark.parametrize("length", [None, 3, 11])
async def test_more_than_the_limit_is_refused_whatever_was_announced(length: int | None) -> None:
    with pytest.raises(TooLarge, match="upload it"):
        async with whole_body(a_request(b"x" * 11, length=length), limit=10, instead="upload it"):
            pass


async def test_a_third_large_body_waits_until_one_is_let_go_and_a_small_one_does_not() -> None:
    let_go = [asyncio.Event() for _ in range(3)]
    held: list[int] = []

    async def hold(n: int) -> None:
        async with whole_body(a_request(b"x", length=SMALL_BODY + 1), instead=""):
            held.append(n)
            await let_go[n].wait()

    tasks = [asyncio.create_task(hold(n)) for n in range(3)]
    async with whole_body(a_request(b"x", length=1), instead="") as small:
        assert small == b"x"
    await _settled()
    assert held == [0, 1]
    let_go[0].set()
    await _settled()
    assert held == [0, 1, 2]
    for event in let_go:
        event.set()
    await asyncio.gather(*tasks)


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def references(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The worker library's memory of requests, as it is built today."""
    kept: dict[str, object] = {}
    library = ModuleType("azure_functions_runtime.http_v2")
    library.http_coordinator = SimpleNamespace(_context_references=kept)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, library.__name__, library)
    return kept


def _reference(*, answered: bool, fetched: bool) -> SimpleNamespace:
    given = asyncio.Event()
    if answered:
        given.set()
    response = object() if answered and not fetched else None
    return SimpleNamespace(http_response_available_event=given, http_response=response)


def test_only_requests_whose_answer_was_fetched_are_forgotten(references: dict[str, object]) -> None:
    references["open"] = _reference(answered=False, fetched=False)
    references["given"] = _reference(answered=True, fetched=False)
    references["fetched"] = _reference(answered=True, fetched=True)
    requests = AnsweredRequests()
    assert sum(requests.forget() for _ in range(EVERY)) == 1
    assert set(references) == {"open", "given"}


async def test_the_library_as_it_is_forgets_too() -> None:
    http_coordinator.set_http_request("one", object())
    await http_coordinator.get_http_request_async("one")
    http_coordinator.set_http_response("one", object())
    await http_coordinator.await_http_response_async("one")
    requests = AnsweredRequests()
    assert sum(requests.forget() for _ in range(EVERY)) == 1
    with pytest.raises(KeyError):
        http_coordinator.set_http_response("one", object())


def test_a_library_that_is_built_otherwise_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("azure_functions_runtime.http_v2")
    monkeypatch.setitem(sys.modules, library.__name__, library)
    requests = AnsweredRequests()
    assert sum(requests.forget() for _ in range(EVERY)) == 0

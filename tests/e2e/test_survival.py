"""Processes die at any moment: no accepted request is lost, and nothing is bought twice.

One stack for the whole file, the tests in their order. The moments are random and always the same ones.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

from local.stack import Stack, start_stack
from tests.integration.postern import FINISHED, Caller, Json, chat
from tests.integration.provider import Provider, eventually

pytestmark = [pytest.mark.stack, pytest.mark.timeout(600)]

REQUESTS = 12
PATIENCE = 300.0


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with start_stack(tmp_path_factory.mktemp("survival")) as stack:
        yield stack


@pytest.fixture
def provider(stack: Stack) -> Iterator[Provider]:
    provider = Provider(stack.simulator)
    provider.clear()
    yield provider
    provider.close()


@pytest.fixture(scope="module")
def support(stack: Stack) -> Iterator[Caller]:
    with Caller(stack.http, stack.keys["support"]) as caller:
        yield caller


def patiently[T](call: Callable[[], T]) -> T:
    """What `call` answers, asked again while nobody is there to answer."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return call()
        except (httpx2.TransportError, AssertionError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def submit(caller: Caller, name: str) -> str:
    """The id of the job of this name, however often that takes."""
    requests = [chat(f"{name}: request number {n}.", f"r{n}") for n in range(REQUESTS)]
    body = {"alias": "summarize", "requests": requests, "tags": {"project": name}}

    def call() -> str:
        response = caller.post("/v1/jobs", body, idempotency_key=name)
        assert response.status_code == 202, response.text
        return str(response.json()["id"])

    return patiently(call)


def finished(caller: Caller, job: str) -> Json:
    def call() -> Json:
        seen = caller.job(job)
        assert seen["status"] in FINISHED, seen
        return seen

    return patiently(call)


def assert_nothing_lost_or_doubled(caller: Caller, provider: Provider, jobs: list[Json]) -> None:
    """Every request has one answer, every batch is known to a job, and the ledger holds each row once."""
    for job in jobs:
        assert (job["status"], job["counts"]["succeeded"]) == ("completed", REQUESTS)
        results = caller.results(job)
        assert [row["custom_id"] for row in results] == [f"r{n}" for n in range(REQUESTS)]
        assert all(row["output"] for row in results)
        assert caller.report(job)["balanced"] is True
        usage = caller.get("/v1/usage", by="project").json()["rows"]
        [booked] = [row for row in usage if row["project"] == job["tags"]["project"]]
        assert booked["requests"] == REQUESTS
        assert booked["output_tokens"] == job["usage"]["output_tokens"]
        told = [event["id"] for event in provider.events(f"jobs/{job['id']}")]
        assert len(set(told)) == 1
        assert provider.made_for(job) == [chunk["batch_id"] for chunk in job["chunks"]]
        assert len(job["chunks"]) == 1


def run_through(caller: Caller, provider: Provider, name: str, jobs: int, blows: Iterator[None]) -> None:
    """Submit `jobs` jobs one after the other, spread over the `blows`, and see them all to their end."""
    provider.rule({"contains": name}, {"batch": "completed", "after_seconds": 3})
    waiting = iter(range(jobs))
    with ThreadPoolExecutor(jobs) as pool:
        submitted = [pool.submit(submit, caller, f"{name}-{next(waiting)}")]
        for blow, _ in enumerate(blows):
            if blow % 2 == 0 and (n := next(waiting, None)) is not None:
                submitted.append(pool.submit(submit, caller, f"{name}-{n}"))
        submitted += [pool.submit(submit, caller, f"{name}-{n}") for n in waiting]
        ids = [future.result(PATIENCE) for future in submitted]
    assert_nothing_lost_or_doubled(caller, provider, [finished(caller, job) for job in ids])


def kills(stack: Stack, count: int, *names: str, seed: int) -> Iterator[None]:
    """Kill the processes of these names together, `count` times: at work mostly, and while they start."""
    dice, start = random.Random(seed), 2.0
    for n in range(count):
        # Where a start takes long, so does the work that is to be interrupted.
        time.sleep(dice.uniform(0, start))
        began = time.monotonic()
        old = {name: stack.kill(name) for name in names}
        yield
        if n % 4 == 3:
            eventually(lambda: all(stack.pids()[name] != pid for name, pid in old.items()), seconds=30)  # noqa: B023 - looked at within this round
        else:
            for name, pid in old.items():
                stack.wait_for_restart(name, pid, seconds=PATIENCE)
            start = min(time.monotonic() - began, 10.0)


def test_a_host_killed_at_twenty_moments(stack: Stack, support: Caller, provider: Provider) -> None:
    run_through(support, provider, "host", 10, kills(stack, 20, "host", seed=20))


def test_a_simulator_killed_in_the_middle_of_batches(
    stack: Stack, support: Caller, provider: Provider
) -> None:
    run_through(support, provider, "simulator", 3, kills(stack, 4, "simulator", seed=3))


def test_all_but_storage_killed_at_once(stack: Stack, support: Caller, provider: Provider) -> None:
    blows = kills(stack, 3, "host", "simulator", "servicebus", seed=4)

    run_through(support, provider, "together", 3, blows)


def test_a_host_killed_while_it_asks_a_server_without_batches_line_by_line(
    stack: Stack, support: Caller, provider: Provider
) -> None:
    """At most the calls in flight are repeated: sixteen at once to begin with, thirty-two at most."""
    provider.rule({"contains": "line-by-line"}, {"delay_ms": 500})
    requests = [chat(f"line-by-line: request number {n}.", f"r{n}") for n in range(60)]
    job = support.submitted(*requests, alias="summarize-llama")

    eventually(lambda: len(asked_of(provider, "llama-3.3-70b")) >= 24, seconds=PATIENCE)
    stack.wait_for_restart("host", stack.kill("host"), seconds=PATIENCE)
    done = finished(support, job["id"])

    assert (done["status"], done["counts"]["succeeded"], len(done["chunks"])) == ("completed", 60, 1)
    assert 60 <= len(asked_of(provider, "llama-3.3-70b")) <= 60 + 32
    assert support.report(done)["balanced"] is True


def asked_of(provider: Provider, model: str) -> list[Json]:
    """The calls that a model has had."""
    return [call for call in provider.journal(operation="chat") if call["model"] == model]


def test_a_stack_that_is_stopped_and_started_continues(
    stack: Stack, support: Caller, provider: Provider
) -> None:
    addresses = (stack.http, stack.simulator, stack.storage)

    def restarts() -> Iterator[None]:
        yield
        time.sleep(1.0)
        stack.restart()
        yield

    run_through(support, provider, "restart", 3, restarts())

    assert (stack.http, stack.simulator, stack.storage) == addresses

"""What is particular about Anthropic's batches: no key, no input file, results that follow their batch."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from shared.adapters.providers.anthropic.provider import connect
from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import Ambiguous, NotAdmitted, NotFound, RateLimited, TryAgainLater, Unknowable
from shared.domain.ids import BatchId, ChunkKey, DeploymentName, FileId
from shared.ports.providers import BatchProvider, ChunkInput, RemoteBatch
from tests.contract.batching.anthropic import anthropic
from tests.contract.batching.chunks import create, download, input_of
from tests.contract.batching.memory import StoppedClock
from tests.contract.batching.service import Service
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

BROKE = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "Your credit balance is too low to access the Anthropic API.",
    },
}


@pytest.fixture
async def anthropic_service(batch_simulator: Simulator) -> AsyncIterator[Service]:
    async with anthropic()(batch_simulator) as made:
        yield made


def a_rule(simulator: Simulator, operation: str, **then: Any) -> None:
    """In front of all others, once."""
    rules = [
        {name: rule[name] for name in ("match", "then", "times") if rule.get(name) is not None}
        for rule in simulator.get("rules")
    ]
    simulator.send("DELETE", "rules")
    simulator.send("POST", "rules", [{"match": {"operation": operation}, "then": then, "times": 1}, *rules])


async def send(provider: BatchProvider, chunk: ChunkInput) -> RemoteBatch:
    return await provider.create(chunk, (await provider.stage(chunk)).id)


async def test_results_tell_which_of_several_batches_it_is(anthropic_service: Service) -> None:
    provider = anthropic_service.provider
    ours = input_of(provider, "one", "two", run="ours")
    batch = await send(provider, ours)
    other = await send(provider, input_of(provider, "one", "two", run="other", key=ChunkKey("job_2-0-1-1")))
    await anthropic_service.finish(batch.id)
    await anthropic_service.finish(other.id)

    found = await provider.find(ours, since=anthropic_service.start)

    assert found is not None
    assert found.id == batch.id


async def test_a_batch_whose_results_are_of_others_is_not_found(anthropic_service: Service) -> None:
    provider = anthropic_service.provider
    other = await send(provider, input_of(provider, "one", "two", run="other"))
    await anthropic_service.finish(other.id)

    assert await provider.find(input_of(provider, "one", "two"), since=anthropic_service.start) is None


async def test_a_batch_that_another_chunk_has_on_record_is_not_found(anthropic_service: Service) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, "one", "two")

    async def taken(asked: BatchId) -> bool:
        return asked == batch.id

    chunk = replace(input_of(provider, "one", "two"), is_taken=taken)
    assert await provider.find(chunk, since=anthropic_service.start) is None


async def test_results_that_cannot_be_found_yet_are_asked_for_again(
    anthropic_service: Service, batch_simulator: Simulator
) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, "one")
    await anthropic_service.finish(batch.id)
    a_rule(
        batch_simulator, "download", status=404, body={"type": "error", "error": {"type": "not_found_error"}}
    )

    with pytest.raises(TryAgainLater):
        await download(provider, FileId(batch.id))

    assert await download(provider, FileId(batch.id))


async def test_results_that_are_cut_off_are_not_taken_for_all(
    anthropic_service: Service, batch_simulator: Simulator
) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, *(f"question {n}" for n in range(50)))
    await anthropic_service.finish(batch.id)
    a_rule(batch_simulator, "download", drop="after")

    with pytest.raises(TryAgainLater):
        await download(provider, FileId(batch.id))


async def test_results_go_with_their_batch(anthropic_service: Service) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, "one")
    await anthropic_service.finish(batch.id)

    await provider.delete_file(FileId(batch.id))
    await provider.delete_file(FileId(batch.id))

    with pytest.raises(NotFound):
        await download(provider, FileId(batch.id))
    with pytest.raises(NotFound):
        await provider.retrieve(batch.id)


async def test_there_is_no_input_to_delete(anthropic_service: Service) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, "one")

    await provider.delete_file(FileId("job_1-0-1-1"))

    assert (await provider.retrieve(batch.id)).id == batch.id


async def test_an_empty_account_is_no_refusal_of_the_input(
    anthropic_service: Service, batch_simulator: Simulator
) -> None:
    a_rule(batch_simulator, "create", status=400, body=BROKE)

    with pytest.raises(NotAdmitted, match="billing"):
        await create(anthropic_service, "one")


@pytest.mark.parametrize(
    ("then", "error"),
    [
        ({"status": 500, "applied": True}, Unknowable),
        ({"status": 529}, Unknowable),
        ({"status": 429, "headers": {"retry-after": "7"}}, RateLimited),
        ({"status": 404}, NotAdmitted),
    ],
    ids=str,
)
async def test_a_create_is_sent_once_whatever_is_answered(
    anthropic_service: Service, batch_simulator: Simulator, then: dict[str, Any], error: type[Exception]
) -> None:
    before = len(batch_simulator.journal("create"))
    a_rule(batch_simulator, "create", **then)

    with pytest.raises(error):
        await create(anthropic_service, "one")

    assert len(batch_simulator.journal("create")) == before + 1


async def test_an_older_version_goes_out_as_the_catalogue_says(batch_simulator: Simulator) -> None:
    deployment = Deployment(
        name=DeploymentName("older"),
        provider="anthropic",
        model="claude-haiku-4-5",
        deployment="claude-haiku-4-5",
        endpoint=f"{batch_simulator.url}/anthropic",
        api_version="2023-06-01",
        key_setting="KEY",
    )
    batch_simulator.send("DELETE", "rules")
    provider = connect(deployment, Connection(clock=StoppedClock(), key=lambda name: "secret"))
    try:
        warm = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9, "temperature": 0.5}
        assert provider.objection(input_of(provider).endpoint, warm) is None
    finally:
        await provider.close()


async def raw(service: Service, url: str, batch: BatchId) -> dict[str, Any]:
    async with httpx2.AsyncClient(headers={"x-api-key": "somebody else"}) as client:
        return dict((await client.get(f"{url}/anthropic/v1/messages/batches/{batch}")).json())


async def test_a_batch_that_has_not_been_counted_yet_may_be_ours(
    anthropic_service: Service, batch_simulator: Simulator
) -> None:
    """It is neither taken on a guess nor taken for absent, which would buy it again."""
    provider = anthropic_service.provider
    chunk = input_of(provider, "one", "two")
    told = await raw(anthropic_service, batch_simulator.url, (await send(provider, chunk)).id)
    nothing = dict.fromkeys(told["request_counts"], 0)
    for counts in (None, nothing):
        listed = {"data": [{**told, "request_counts": counts}], "has_more": False}
        a_rule(batch_simulator, "list", status=200, body=listed)

        with pytest.raises(Ambiguous):
            await provider.find(chunk, since=anthropic_service.start)


async def test_an_ended_batch_whose_results_have_no_address_yet_has_lost_nothing(
    anthropic_service: Service, batch_simulator: Simulator
) -> None:
    provider = anthropic_service.provider
    batch = await create(anthropic_service, "one")
    await anthropic_service.finish(batch.id)
    told = await raw(anthropic_service, batch_simulator.url, batch.id)
    a_rule(batch_simulator, "retrieve", status=200, body={**told, "results_url": None})

    with pytest.raises(TryAgainLater):
        await download(provider, FileId(batch.id))

    gone = {**told, "results_url": None, "archived_at": told["ended_at"]}
    a_rule(batch_simulator, "retrieve", status=200, body=gone)
    with pytest.raises(NotFound):
        await download(provider, FileId(batch.id))

"""The promises of `shared.ports.models.Model`, asked of every model: the ones on the wire, and the one in memory."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest

from shared.adapters.azure.clock import SystemClock
from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.model_registry import ModelRegistry
from shared.adapters.providers.openai.model import OpenAIModel
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import GiveUp, NotAdmitted, RateLimited, TryAgainLater
from shared.domain.ids import DeploymentName, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.rows import Row, RowKind, judge
from shared.ports.models import Model, Question
from tests.local.simulator.process import Simulator

SAID = "The heater is broken since Monday."
WAIT = timedelta(milliseconds=1500)


@dataclass(frozen=True, kw_only=True)
class Service:
    """A model, and a hand on the service behind it.

    `spoil` plays a trouble whenever a question holds the text, `answer` an answer. `seen` tells tenant and
    correlation id of every question that arrived. `never`: what cannot befall a question there. `embeds`: it
    makes vectors.
    """

    model: Model
    spoil: Callable[[str, Fate], None]
    answer: Callable[[str, str], None]
    seen: Callable[[], Sequence[tuple[str, str]]]
    never: frozenset[Fate] = frozenset()
    embeds: bool = True


type Make = Callable[[Simulator], AbstractAsyncContextManager[Service]]


@asynccontextmanager
async def memory(_: Simulator) -> AsyncIterator[Service]:
    model = MemoryModels().of("mini")
    model.manners.retry_after = WAIT

    def answer(contained: str, text: str) -> None:
        model.manners.answer = lambda words: text if contained in words else words

    yield Service(
        model=model,
        spoil=model.manners.fates.__setitem__,
        answer=answer,
        seen=lambda: [(asked.tenant, asked.correlation_id) for asked in model.asked],
    )


TROUBLES: Mapping[Fate, Mapping[str, Any]] = {
    Fate.CONTENT_FILTER: {"outcome": "content_filter", "filtered": "prompt"},
    Fate.FILTERED: {"outcome": "content_filter", "filtered": "completion"},
    Fate.REFUSAL: {"outcome": "refusal"},
    Fate.TRUNCATED: {"outcome": "truncated"},
    Fate.REJECTED: {"outcome": "error", "status": 400, "error_code": "invalid_request"},
    Fate.ERROR: {"status": 503, "body": {"error": {"message": "overloaded"}}},
    Fate.RATE_LIMITED: {"status": 429, "headers": {"retry-after-ms": "1500"}, "body": {"error": {}}},
    Fate.MISSING: {"drop": "after"},
    Fate.MALFORMED: {"outcome": "malformed"},
}


def on_the_wire(
    provider: str,
    path: str,
    *,
    api_version: str | None = None,
    never: frozenset[Fate] = frozenset(),
    embeds: bool = True,
    options: Mapping[str, str] | None = None,
) -> Make:
    @asynccontextmanager
    async def make(simulator: Simulator) -> AsyncIterator[Service]:
        registry = a_registry()
        deployment = a_deployment(
            provider, simulator.url + path, api_version=api_version, options=options or {}
        )

        def spoil(contained: str, trouble: Fate) -> None:
            simulator.rule(match={"contains": contained}, then=dict(TROUBLES[trouble]))

        def answer(contained: str, text: str) -> None:
            simulator.rule(match={"contains": contained}, then={"outcome": "success", "text": text})

        def seen() -> list[tuple[str, str]]:
            calls = simulator.journal("chat") + simulator.journal("embeddings")
            return [(call["tenant"], call["correlation_id"]) for call in calls]

        try:
            yield Service(
                model=registry.model(deployment),
                spoil=spoil,
                answer=answer,
                seen=seen,
                never=never,
                embeds=embeds,
            )
        finally:
            await registry.close()

    return make


def a_registry(**keys: str) -> ModelRegistry:
    return ModelRegistry(Connection(clock=SystemClock(), key=({"KEY": "secret"} | keys).__getitem__))


def a_deployment(
    provider: str,
    endpoint: str,
    *,
    api_version: str | None = None,
    key: str | None = "KEY",
    options: Mapping[str, str] = MappingProxyType({}),
) -> Deployment:
    return Deployment(
        name=DeploymentName("mini"),
        provider=provider,
        model="gpt-4.1-mini",
        deployment="mini-here",
        endpoint=endpoint,
        api_version=api_version,
        key_setting=key,
        options=options,
    )


MODELS = [
    pytest.param(memory, id="memory"),
    pytest.param(on_the_wire("azure_openai", "/azure"), id="azure-v1"),
    pytest.param(on_the_wire("azure_openai", "/azure", api_version="2024-10-21"), id="azure-dated"),
    pytest.param(on_the_wire("openai", "/openai/v1"), id="openai"),
    pytest.param(on_the_wire("anthropic", "/anthropic", embeds=False), id="anthropic"),
    pytest.param(on_the_wire("openai_compatible", "/compatible/v1"), id="compatible"),
    # A model that refuses says so in its answer there, and nowhere else.
    pytest.param(on_the_wire("mistral", "/mistral", never=frozenset({Fate.REFUSAL})), id="mistral"),
    pytest.param(
        on_the_wire("vertex", "/vertex", embeds=False, options={"project": "p", "location": "us-central1"}),
        id="vertex",
    ),
    pytest.param(on_the_wire("vertex", "/vertex", embeds=False), id="vertex, developer API"),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    simulator = Simulator(data=tmp_path_factory.mktemp("simulator"))
    simulator.start()
    yield simulator
    simulator.stop()


@pytest.fixture
def simulator(running: Simulator) -> Iterator[Simulator]:
    yield running
    running.send("DELETE", "rules")
    running.send("DELETE", "journal")


@pytest.fixture(params=MODELS)
async def service(request: pytest.FixtureRequest, simulator: Simulator) -> AsyncIterator[Service]:
    make: Make = request.param
    async with make(simulator) as made:
        yield made


def a_question(
    body: Mapping[str, object] | None = None, *, said: str = SAID, endpoint: Endpoint = Endpoint.CHAT
) -> Question:
    return Question(
        endpoint=endpoint,
        body=body or {"messages": [{"role": "user", "content": said}], "max_completion_tokens": 100},
        tenant=TenantId("support"),
        correlation_id="doc_1",
    )


async def ask(service: Service, said: str = SAID) -> Row:
    return await service.model.ask(a_question(said=said))


async def test_an_answer_is_a_row_without_a_key(service: Service) -> None:
    service.answer("heater", "A heater\nis broken: ä.")

    row = await ask(service)

    assert (row.key, row.kind, row.status) == (None, RowKind.ANSWER, 200)
    assert row.text == "A heater\nis broken: ä."
    assert row.output is not None
    assert json.loads(row.output) == row.text
    assert row.usage
    assert row.usage.input > 0
    assert row.usage.output > 0
    assert row.body is not None
    assert b"\n" not in row.body


async def test_the_gateway_learns_for_whom_and_why(service: Service) -> None:
    await ask(service)

    assert list(service.seen()) == [("support", "doc_1")]


async def test_vectors_come_in_the_order_of_the_texts(service: Service) -> None:
    if not service.embeds:
        pytest.skip("it makes no vectors")

    def embedded(*texts: str) -> Question:
        return a_question({"input": list(texts)}, endpoint=Endpoint.EMBEDDINGS)

    row = await service.model.ask(embedded("a heater", "two whole heaters"))
    turned = await service.model.ask(embedded("two whole heaters", "a heater"))
    alone = await service.model.ask(embedded("a heater"))

    assert row.output is not None
    assert turned.output is not None
    assert alone.output is not None
    vectors = json.loads(row.output)
    assert vectors == list(reversed(json.loads(turned.output)))
    assert json.loads(alone.output) == vectors[0]
    assert row.usage
    assert row.usage.input > 0


@pytest.mark.parametrize(
    ("trouble", "outcome", "reason"),
    [
        (Fate.CONTENT_FILTER, Outcome.REFUSED, "content_filter"),
        (Fate.FILTERED, Outcome.REFUSED, "content_filter"),
        (Fate.REFUSAL, Outcome.REFUSED, "refusal"),
        (Fate.TRUNCATED, Outcome.TRUNCATED, "max_tokens"),
        (Fate.REJECTED, Outcome.FAILED, "invalid_request"),
        (Fate.MALFORMED, Outcome.FAILED, "unreadable"),
    ],
)
async def test_what_the_model_says_no_to_is_a_row(
    service: Service, trouble: Fate, outcome: Outcome, reason: str
) -> None:
    if trouble in service.never:
        pytest.skip("that cannot happen there")
    service.spoil("heater", trouble)

    row = await ask(service)

    verdict = judge(row, None)
    assert (row.key, verdict.outcome, verdict.reason) == (None, outcome, reason)


async def test_too_many_requests_say_how_long_to_wait(service: Service) -> None:
    service.spoil("heater", Fate.RATE_LIMITED)

    with pytest.raises(RateLimited) as limited:
        await ask(service)

    assert limited.value.retry_after == WAIT


@pytest.mark.parametrize("trouble", [Fate.ERROR, Fate.MISSING])
async def test_a_fault_may_pass(service: Service, trouble: Fate) -> None:
    service.spoil("heater", trouble)

    with pytest.raises(TryAgainLater):
        await ask(service)


async def test_nothing_is_asked_twice(service: Service) -> None:
    service.spoil("heater", Fate.ERROR)

    with pytest.raises(TryAgainLater):
        await ask(service)

    assert len(service.seen()) == 1


async def test_no_error_quotes_the_question_or_the_key(service: Service) -> None:
    service.spoil("heater", Fate.ERROR)

    with pytest.raises(TryAgainLater) as raised:
        await ask(service)

    assert "heater" not in str(raised.value)
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_deployment_that_does_not_let_us_in_blames_no_tenant(
    simulator: Simulator, status: int
) -> None:
    simulator.rule(match={}, then={"status": status, "body": {"error": {"code": "DeploymentNotFound"}}})
    registry = a_registry()
    try:
        with pytest.raises(NotAdmitted, match=str(status)):
            await registry.model(a_deployment("azure_openai", f"{simulator.url}/azure")).ask(a_question())
    finally:
        await registry.close()


async def test_a_page_of_a_gateway_is_no_answer(simulator: Simulator) -> None:
    page = '<html>"}},"error":null}</html>'
    simulator.rule(match={}, then={"status": 200, "body": page, "headers": {"content-type": "text/html"}})
    registry = a_registry()
    try:
        row = await registry.model(a_deployment("openai", f"{simulator.url}/openai/v1")).ask(a_question())
    finally:
        await registry.close()

    assert row.kind is RowKind.UNREADABLE


async def test_an_answer_that_takes_too_long_is_no_answer(simulator: Simulator) -> None:
    simulator.rule(match={}, then={"delay_ms": 5000})
    model = registry_model(simulator, timeout=timedelta(seconds=0.2))
    try:
        with pytest.raises(TryAgainLater):
            await model.ask(a_question())
    finally:
        await model.close()


def registry_model(simulator: Simulator, *, timeout: timedelta) -> OpenAIModel:
    import openai

    client = openai.AsyncOpenAI(base_url=f"{simulator.url}/openai/v1", api_key="secret", max_retries=0)
    return OpenAIModel(client=client, model="mini", clock=SystemClock(), timeout=timeout)


async def test_a_deployment_has_one_model_until_it_changes() -> None:
    registry = a_registry()
    deployment = a_deployment("openai", "https://gateway.example/v1")
    try:
        first = registry.model(deployment)
        assert registry.model(a_deployment("openai", "https://gateway.example/v1")) is first
        assert registry.model(a_deployment("openai", "https://gateway.example/v2")) is not first
    finally:
        await registry.close()


@pytest.mark.parametrize("provider", ["openai", "azure_openai"])
def test_a_missing_key_is_the_operators_to_mend(provider: str) -> None:
    deployment = a_deployment(provider, "https://gateway.example", key="LOST")

    with pytest.raises(NotAdmitted, match="LOST"):
        a_registry().model(deployment)


def test_a_provider_that_does_not_answer_at_once_is_named() -> None:
    with pytest.raises(GiveUp, match="carrier pigeon"):
        a_registry().model(a_deployment("carrier pigeon", "https://gateway.example"))

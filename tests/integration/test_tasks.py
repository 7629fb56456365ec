"""Every task, asked of the provider simulator over a socket through the official SDK."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from types import MappingProxyType

import pytest

from shared.adapters.azure.clock import SystemClock
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.pricing.windows import GenaiWindows
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.model_registry import ModelRegistry
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.adapters.text.splitter import SemanticSplitter
from shared.adapters.text.tokens import ToktokTokens
from shared.domain.catalog import Alias, Catalog, Deployment
from shared.domain.errors import Deferred, NotAdmitted
from shared.domain.ids import AliasName, DeploymentName
from shared.domain.outcomes import Outcome
from shared.services.pace.pace import Pace
from shared.services.tasks.asking import Ways
from shared.services.tasks.run_task import RunTask
from tests.local.simulator.process import Simulator
from tests.support.world import FixedCatalog
from tests.unit.tasks.orders import ALIAS, a_catalog, an_order, output_of

pytestmark = pytest.mark.stack

TEXT = (
    "The heater on the third floor has been broken since Monday. The invoice of 120.50 EUR is open."
    " Please send somebody before Friday. The printer works again. Nobody has seen the hardware key."
)
BILL = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "summary": {"type": "string"}},
    "required": ["total", "summary"],
    "additionalProperties": False,
}
EMBED = Alias(name=AliasName("embed"), minutes=(DeploymentName("vectors"),))


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


def catalog_of(simulator: Simulator) -> Catalog:
    given = a_catalog()
    vectors = replace(
        given.deployments[DeploymentName("mini")],
        name=DeploymentName("vectors"),
        model="text-embedding-3-small",
        deployment="text-embedding-3-small",
    )
    deployments = [*given.deployments.values(), vectors]
    here: dict[DeploymentName, Deployment] = {
        deployment.name: replace(deployment, endpoint=f"{simulator.url}/azure", key_setting="KEY")
        for deployment in deployments
    }
    return replace(given, deployments=MappingProxyType(here))


@pytest.fixture
async def run_task(simulator: Simulator) -> AsyncIterator[RunTask]:
    clock, tokens = SystemClock(), ToktokTokens()
    registry = ModelRegistry(Connection(clock=clock, key=lambda name: "secret"))

    async def alarm(deployment: Deployment, why: NotAdmitted) -> None:
        raise AssertionError(f"{deployment.name}: {why}")

    pace = Pace(clock=clock, sleep=asyncio.sleep)
    yield RunTask(
        catalog=FixedCatalog(catalog_of(simulator)),
        ways=Ways(models=registry, prices=GenaiPrices(), tokens=tokens, pace=pace, alarm=alarm),
        schemas=JsonschemaRsSchemas(),
        splitter=SemanticSplitter(tokens),
        windows=GenaiWindows(),
    )
    await registry.close()


async def test_a_summary(run_task: RunTask, simulator: Simulator) -> None:
    result = await run_task(an_order(text=TEXT))

    assert output_of(result).startswith("The heater on the third floor")
    assert result.usage
    assert result.spend
    assert result.spend.amount > 0
    (call,) = simulator.journal("chat")
    assert (call["tenant"], call["correlation_id"]) == ("support", "doc_1")


async def test_an_extraction(run_task: RunTask) -> None:
    result = await run_task(an_order("extract", TEXT, schema=BILL))

    assert set(output_of(result)) == {"total", "summary"}


async def test_a_label(run_task: RunTask) -> None:
    result = await run_task(an_order("classify", TEXT, schema={"enum": ["heater", "software"]}))

    assert output_of(result) == {"label": "heater"}


async def test_translations(run_task: RunTask) -> None:
    result = await run_task(an_order("translate", TEXT, languages=("de", "fr")))

    languages = output_of(result)
    assert languages["de"].startswith("[simulated translation, German]")
    assert languages["fr"].startswith("[simulated translation, French]")


async def test_vectors(run_task: RunTask) -> None:
    result = await run_task(an_order("embed", TEXT, alias=EMBED, split_tokens=16))

    pieces = output_of(result)
    assert len(pieces) > 2
    assert "".join(piece["text"] for piece in pieces) == TEXT
    assert {len(piece["vector"]) for piece in pieces} == {1536}
    assert result.calls == 1


async def test_an_answer_is_repaired(run_task: RunTask, simulator: Simulator) -> None:
    simulator.rule(match={"contains": "heater"}, then={"outcome": "invalid_json"}, times=1)

    result = await run_task(an_order("extract", TEXT, schema=BILL))

    assert (result.outcome, result.attempts, result.calls) == (Outcome.SUCCEEDED, 2, 2)
    assert len(simulator.journal("chat")) == 2


async def test_too_many_requests_are_waited_out(run_task: RunTask, simulator: Simulator) -> None:
    simulator.rule(match={}, then={"status": 429, "headers": {"retry-after-ms": "1100"}}, times=1)

    result = await run_task(an_order(text=TEXT))

    assert (result.outcome, result.calls) == (Outcome.SUCCEEDED, 2)


async def test_an_outage_puts_it_off(run_task: RunTask, simulator: Simulator) -> None:
    simulator.rule(match={}, then={"status": 503})

    with pytest.raises(Deferred) as deferred:
        await run_task(an_order(text=TEXT))

    assert deferred.value.fault == "infrastructure"
    assert len(simulator.journal("chat")) == 2


async def test_a_filter_is_a_result(run_task: RunTask, simulator: Simulator) -> None:
    simulator.rule(match={"contains": "heater"}, then={"outcome": "content_filter"})

    result = await run_task(an_order(text=TEXT))

    assert (result.outcome, result.reason, result.calls) == (Outcome.REFUSED, "content_filter", 1)


async def test_fifty_at_once_are_all_answered(run_task: RunTask, simulator: Simulator) -> None:
    faults: list[str | None] = []

    async def until_done(number: int) -> Outcome:
        while True:
            try:
                return (await run_task(an_order(text=f"{TEXT} {number}", alias=ALIAS))).outcome
            except Deferred as deferred:
                faults.append(deferred.fault)
                await asyncio.sleep(0.2)

    outcomes = await asyncio.gather(*(until_done(number) for number in range(50)))

    assert set(outcomes) == {Outcome.SUCCEEDED}
    assert set(faults) <= {None}
    assert len(simulator.journal("chat")) == 50

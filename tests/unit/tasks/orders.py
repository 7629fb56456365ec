"""Orders for tasks, and what they are carried out with."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec

from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.splitter import MemorySplitter, MemoryTokens
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.domain.catalog import Alias, Catalog, Deployment, DeploymentLimits, Lane, Pipeline, Tenant
from shared.domain.errors import NotAdmitted
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.tasks import TaskOrder, TaskResult
from shared.ports.splitter import Splitter
from shared.ports.tokens import Tokens
from shared.services.pace.pace import Pace
from shared.services.tasks.asking import Ways
from shared.services.tasks.run_task import RunTask
from tests.support.virtual import VirtualClock
from tests.support.world import FixedCatalog

ALIAS = Alias(
    name=AliasName("summarize"),
    minutes=(DeploymentName("mini"), DeploymentName("spare")),
    max_output_tokens=400,
)


def a_deployment(name: str, **limits: Any) -> Deployment:
    return Deployment(
        name=DeploymentName(name),
        provider="azure_openai",
        model="gpt-5-mini",
        deployment=name,
        endpoint="https://gateway.example",
        limits=DeploymentLimits(**limits),
    )


def a_catalog(**limits: Any) -> Catalog:
    deployments = [a_deployment("mini", **limits), a_deployment("spare", **limits)]
    tenants = [Tenant(id=TenantId("support"), weight=2), Tenant(id=TenantId("retail"))]
    return Catalog(
        tenants=MappingProxyType({tenant.id: tenant for tenant in tenants}),
        deployments=MappingProxyType({deployment.name: deployment for deployment in deployments}),
        aliases=MappingProxyType({ALIAS.name: ALIAS}),
    )


def an_order(
    task: str = "summarize",
    text: str = "The printer on floor 3 is out of toner.",
    *,
    schema: Mapping[str, object] | None = None,
    alias: Alias = ALIAS,
    tenant: str = "support",
    **pipeline: Any,
) -> TaskOrder:
    return TaskOrder(
        task=task,
        text=text,
        pipeline=Pipeline(name="notes", task=task, alias=alias.name, lane=Lane.MINUTES, **pipeline),
        schema=schema,
        alias=alias,
        tenant=TenantId(tenant),
        correlation_id="doc_1",
        document_name="notes/a.txt",
    )


def a_run(
    models: MemoryModels,
    *,
    tokens: Tokens | None = None,
    splitter: Splitter | None = None,
    window: int = 400_000,
    catalog: Catalog | None = None,
    alarms: list[str] | None = None,
) -> RunTask:
    """On the running loop's time, which a test may own. A token is a character unless the test brings its own."""

    async def alarm(deployment: Deployment, why: NotAdmitted) -> None:
        if alarms is not None:
            alarms.append(deployment.name)

    pace = Pace(clock=VirtualClock(), sleep=asyncio.sleep)
    tokens = tokens or MemoryTokens()
    return RunTask(
        catalog=FixedCatalog(catalog or a_catalog()),
        ways=Ways(models=models, prices=GenaiPrices(), tokens=tokens, pace=pace, alarm=alarm),
        schemas=JsonschemaRsSchemas(),
        splitter=splitter or MemorySplitter(),
        windows=OneWindow(window),
    )


@dataclass(frozen=True)
class OneWindow:
    size: int

    def tokens(self, deployment: Deployment) -> int:
        return self.size


def output_of(result: TaskResult) -> Any:
    assert result.output is not None, result
    assert b"\n" not in result.output
    return msgspec.json.decode(result.output)

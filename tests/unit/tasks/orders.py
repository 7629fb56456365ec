"""Orders for tasks, and a catalogue they can be carried out with."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from shared.domain.catalog import Alias, Catalog, Deployment, DeploymentLimits, Lane, Pipeline, Tenant
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.tasks import TaskOrder

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

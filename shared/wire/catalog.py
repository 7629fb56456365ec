"""The catalogue as a file: read, checked whole, and turned into values.

Refuses to know where the text comes from.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from shared.domain.catalog import Alias, Budget, Catalog, Deployment, DeploymentLimits, Pipeline, Tenant
from shared.domain.errors import GiveUp
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.prices import Rates
from shared.wire.catalog_entries import Entries, read_entries
from shared.wire.catalog_models import (
    AliasEntry,
    DeploymentEntry,
    LimitsEntry,
    PipelineEntry,
    PriceEntry,
    TenantEntry,
)
from shared.wire.catalog_rules import broken_rules, lane_of
from shared.wire.catalog_schemas import MAX_SCHEMA_BYTES, Schema, read_schemas, schema_paths
from shared.wire.catalog_yaml import MAX_BYTES, Problem, Unreadable, read_document

__all__ = ["MAX_BYTES", "MAX_SCHEMA_BYTES", "CatalogRefused", "Problem", "read_catalog", "schema_paths"]

MAX_PROBLEMS: Final = 100
_OPTIONS: Final = ("project", "location", "bucket", "storage_url", "storage", "timeout_hours")


class CatalogRefused(GiveUp):
    """A text that is no good catalogue. `problems` are the first hundred, by line; `total` counts all."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        ordered = sorted(problems, key=lambda problem: problem.line)
        self.file = file
        self.total = len(ordered)
        self.problems = tuple(ordered[:MAX_PROBLEMS])
        lines = [f"{file}:{problem.line}: {problem}" for problem in self.problems]
        if self.total > MAX_PROBLEMS:
            lines.append(f"and {self.total - MAX_PROBLEMS} more")
        super().__init__("\n".join(lines))


def read_catalog(
    content: bytes,
    *,
    file: str,
    env: Mapping[str, str],
    schemas: Mapping[str, bytes | None] | None = None,
) -> Catalog:
    """The catalogue that `content` describes; `env` resolves `${NAME}` in endpoints.

    `schemas` holds the files of `schema_paths(content)`, None for one that is not there; without it no
    schema is read. Raise `CatalogRefused` with everything that is wrong.
    """
    try:
        document = read_document(content)
    except Unreadable as error:
        raise CatalogRefused(file, [error.problem]) from None
    entries, problems = read_entries(document, env)
    problems += [document.problem(where, reason) for where, reason in broken_rules(entries)]
    contents: Mapping[str, Schema] = {}
    if schemas is not None:
        contents, bad = read_schemas(document, entries, schemas)
        problems += bad
    if problems:
        raise CatalogRefused(file, problems)
    return _catalog(entries, contents)


def _catalog(entries: Entries, schemas: Mapping[str, Schema]) -> Catalog:
    tenants = (_tenant(name, entry) for name, entry in entries.tenants.items())
    deployments = (
        _deployment(name, entry, entries.prices.get(name) or entries.prices.get(entry.model))
        for name, entry in entries.deployments.items()
    )
    aliases = (_alias(name, entry) for name, entry in entries.aliases.items())
    pipelines = (
        _pipeline(name, entry, entries.aliases[entry.alias], schemas.get(name))
        for name, entry in entries.pipelines.items()
    )
    return Catalog(
        tenants=MappingProxyType({tenant.id: tenant for tenant in tenants}),
        deployments=MappingProxyType({deployment.name: deployment for deployment in deployments}),
        aliases=MappingProxyType({alias.name: alias for alias in aliases}),
        pipelines=MappingProxyType({pipeline.name: pipeline for pipeline in pipelines}),
    )


def _tenant(name: str, entry: TenantEntry) -> Tenant:
    budget = entry.budget
    return Tenant(
        id=TenantId(name),
        keys=frozenset(entry.keys),
        principals=frozenset(entry.principals),
        admin=entry.admin,
        weight=entry.weight,
        required_tags=entry.required_tags,
        budget=Budget(monthly=budget.monthly, on_exceed=budget.on_exceed) if budget else None,
    )


def _deployment(name: str, entry: DeploymentEntry, price: PriceEntry | None) -> Deployment:
    options = {option: str(value) for option in _OPTIONS if (value := getattr(entry, option)) is not None}
    return Deployment(
        name=DeploymentName(name),
        provider=entry.provider,
        model=entry.model,
        deployment=entry.deployment or entry.model,
        endpoint=entry.endpoint or entry.base_url,
        api_version=entry.api_version,
        key_setting=entry.key_setting,
        options=MappingProxyType(options),
        limits=_limits(entry.limits),
        price=_rates(price) if price else None,
    )


def _limits(entry: LimitsEntry) -> DeploymentLimits:
    return DeploymentLimits(
        enqueued_tokens=entry.enqueued_tokens,
        requests=entry.requests,
        bytes=entry.bytes,
        tokens_per_minute=entry.tokens_per_minute,
        share=entry.share,
    )


def _rates(entry: PriceEntry) -> Rates:
    return Rates(
        input=entry.input, cached_input=entry.cached_input, cache_write=entry.cache_write, output=entry.output
    )


def _alias(name: str, entry: AliasEntry) -> Alias:
    return Alias(
        name=AliasName(name),
        minutes=tuple(DeploymentName(target) for target in entry.minutes),
        hours=tuple(DeploymentName(target) for target in entry.hours),
        max_output_tokens=entry.max_output_tokens,
    )


def _pipeline(name: str, entry: PipelineEntry, alias: AliasEntry, schema: Schema | None) -> Pipeline:
    return Pipeline(
        name=name,
        task=entry.task,
        alias=AliasName(entry.alias),
        lane=lane_of(entry, alias),
        prompt=entry.prompt,
        schema=entry.schema_path,
        schema_content=schema,
        languages=entry.languages,
        split_tokens=entry.split_tokens,
        gather=entry.gather,
        deadline_hours=entry.deadline_hours,
    )

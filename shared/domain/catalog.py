"""Who may send what where: tenants, deployments, aliases. Loaded elsewhere; only values here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType

from shared.domain.errors import NotFound
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.prices import Rates


class Endpoint(StrEnum):
    """What kind of answer is asked for. Values are persisted."""

    CHAT = "chat"
    RESPONSES = "responses"
    EMBEDDINGS = "embeddings"

    @property
    def url(self) -> str:
        """The path OpenAI gives it."""
        return {"chat": "/v1/chat/completions", "responses": "/v1/responses", "embeddings": "/v1/embeddings"}[
            self.value
        ]


def makes_vectors(model: str) -> bool:
    """Whether it is a model for embeddings. Providers tell by name only."""
    return "embed" in model.lower()


class Lane(StrEnum):
    MINUTES = "minutes"
    HOURS = "hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """USD a calendar month, and what happens beyond: `reject` new work, or only `alert`."""

    monthly: Decimal
    on_exceed: str = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """The team that pays. `keys` are SHA-256 digests in hex, never keys. Both sorts of ids are lower-case."""

    id: TenantId
    keys: frozenset[str] = frozenset()
    principals: frozenset[str] = frozenset()
    admin: bool = False
    weight: int = 1
    required_tags: tuple[str, ...] = ()
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeploymentLimits:
    """Limits somebody set for a deployment; the provider's own come on top. None: not set."""

    enqueued_tokens: int | None = None
    requests: int | None = None
    bytes: int | None = None
    tokens_per_minute: int | None = None
    share: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A place that runs a model. `key_setting` names an app setting; without it the app's identity calls.

    `endpoint` is where the provider is reached, without a slash at its end; None: the provider's own address.
    `deployment` is what the provider calls it (the model, where it knows no deployments). `options` are the
    provider's own: `project`, `location`, `bucket`, `storage_url` of Vertex, `timeout_hours` of Mistral.
    """

    name: DeploymentName
    provider: str
    model: str
    deployment: str
    endpoint: str | None = None
    api_version: str | None = None
    key_setting: str | None = None
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    limits: DeploymentLimits = DeploymentLimits()
    price: Rates | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A model name that apps use. Each lane lists deployments, the preferred one first."""

    name: AliasName
    minutes: tuple[DeploymentName, ...] = ()
    hours: tuple[DeploymentName, ...] = ()
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What happens to a dropped document. `schema` is a path, `schema_content` the JSON Schema found there."""

    name: str
    task: str
    alias: AliasName
    lane: Lane
    prompt: str | None = None
    schema: str | None = None
    schema_content: Mapping[str, object] | None = None
    languages: tuple[str, ...] = ()
    split_tokens: int | None = None
    gather: str | None = None
    deadline_hours: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """One consistent set: every name that is referred to exists."""

    tenants: Mapping[TenantId, Tenant]
    deployments: Mapping[DeploymentName, Deployment]
    aliases: Mapping[AliasName, Alias]
    pipelines: Mapping[str, Pipeline] = field(default_factory=lambda: MappingProxyType({}))

    def deployment(self, name: DeploymentName) -> Deployment:
        found = self.deployments.get(name)
        if found is None:
            raise NotFound(f"deployment {name!r} is no longer in the catalogue")
        return found

    def alias(self, name: str) -> Alias:
        found = self.aliases.get(AliasName(name))
        if found is None:
            known = ", ".join(sorted(self.aliases)) or "none"
            raise NotFound(f"unknown alias {name!r}; known aliases: {known}")
        return found

    def tenant_of_key(self, digest: str) -> Tenant | None:
        """The tenant whose keys contain this SHA-256 digest (hex)."""
        return next((t for t in self.tenants.values() if digest in t.keys), None)

    def tenant_of_principal(self, *ids: str) -> Tenant | None:
        """The tenant that lists any of these application or object ids; None unless exactly one does."""
        found = [t for t in self.tenants.values() if t.principals.intersection(ids)]
        return found[0] if len(found) == 1 else None

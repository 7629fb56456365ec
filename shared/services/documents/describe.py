"""What a dropped blob is: whose, for which pipeline, and whether anything can be made of it at all. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from shared.domain.catalog import Alias, Catalog, Lane, Pipeline
from shared.domain.documents import Document, PathVersions, document_id
from shared.domain.errors import NotFound
from shared.domain.ids import AliasName, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.ports.blobs import BlobInfo
from shared.wire import paths as places
from shared.wire.drops import Drop
from shared.wire.problems import short
from shared.wire.templates import has_control_characters

# What the blob's metadata may say; everything else in it is the dropper's own business.
TAGS: Final = ("project", "owner", "environment", "run_id")
MAX_TAG_VALUE: Final = 256
# The result is called like the document, with five characters more.
MAX_PATH: Final = places.MAX_NAME - len(".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """`decided`: its end is known without a look inside. `lane` is where it goes otherwise."""

    document: Document
    lane: Lane
    decided: Judgement | None


def describe(
    drop: Drop, info: BlobInfo, versions: PathVersions, catalog: Catalog, now: datetime
) -> Described:
    tenant = catalog.tenants.get(TenantId(drop.tenant))
    pipeline = catalog.pipelines.get(drop.pipeline)
    asked = _Asked.of(info.metadata)
    document = Document(
        id=document_id(drop.path, info.etag, info.modified_at),
        tenant=TenantId(drop.tenant),
        pipeline=drop.pipeline,
        path=drop.path,
        etag=info.etag,
        bytes=info.size,
        content_type=info.content_type,
        modified_at=info.modified_at,
        claimed_at=now,
        version=versions.newest,
        known=tenant is not None and pipeline is not None,
        alias=AliasName(asked.alias) if asked.alias else pipeline.alias if pipeline else None,
        tags=MappingProxyType(asked.tags),
        run_id=asked.tags.get("run_id"),
    )
    return Described(
        document=document,
        lane=pipeline.lane if pipeline else Lane.MINUTES,
        decided=decide(document, catalog),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    alias: str | None
    tags: dict[str, str]

    @classmethod
    def of(cls, metadata: Mapping[str, str]) -> "_Asked":
        """Names of metadata are the same in any case."""
        given = {name.lower(): value.strip() for name, value in metadata.items()}
        tags = {name: given[name][:MAX_TAG_VALUE] for name in TAGS if given.get(name)}
        return cls(alias=given.get("alias") or None, tags=tags)


def decide(document: Document, catalog: Catalog) -> Judgement | None:
    """Its end, if that can be told without a look inside."""
    tenant, pipeline = catalog.tenants.get(document.tenant), catalog.pipelines.get(document.pipeline)
    if tenant is None:
        return _failed("unknown_tenant", _no_tenant(document))
    if pipeline is None:
        return _failed("unknown_pipeline", _no_pipeline(document, catalog))
    if document.bytes == 0:
        return _failed("empty", "the document has no bytes")
    if has_control_characters(document.path) or places.result(document.path) is None:
        return _invalid(f"the path must have {MAX_PATH:,} characters at most, and no control characters")
    if missing := [name for name in tenant.required_tags if not document.tags.get(name)]:
        return _invalid(f"your team's documents must carry the blob metadata {', '.join(missing)}")
    return _fault_of_alias(document, pipeline, catalog)


def _no_tenant(document: Document) -> str:
    if not document.tenant:
        return "the file lies beside the tenants' folders; drop it to TENANT/PIPELINE/"
    return f"there is no tenant {short(document.tenant)}; drop to TENANT/PIPELINE/"


def _no_pipeline(document: Document, catalog: Catalog) -> str:
    known = ", ".join(sorted(catalog.pipelines)) or "none"
    if not document.pipeline:
        return (
            f"the file lies beside the pipelines' folders; drop it to {document.tenant}/PIPELINE/;"
            f" known pipelines: {known}"
        )
    return f"there is no pipeline {short(document.pipeline)}; known pipelines: {known}"


def _fault_of_alias(document: Document, pipeline: Pipeline, catalog: Catalog) -> Judgement | None:
    try:
        alias: Alias = catalog.alias(document.alias or pipeline.alias)
    except NotFound as unknown:
        return _invalid(f"{unknown}; mend the blob metadata alias")
    if not (alias.hours if pipeline.lane is Lane.HOURS else alias.minutes):
        return _invalid(f"alias {alias.name!r} has no deployment in the {pipeline.lane.value} lane")
    return None


def _failed(reason: str, message: str) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=reason, message=message)


def _invalid(message: str) -> Judgement:
    return _failed("invalid_request", message)

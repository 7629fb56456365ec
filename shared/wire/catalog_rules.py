"""What must hold between entries: every name that is referred to exists, and can do what is asked of it."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from shared.domain.catalog import Lane, makes_vectors
from shared.wire.catalog_entries import Entries, did_you_mean
from shared.wire.catalog_models import AliasEntry, DeploymentEntry, PipelineEntry
from shared.wire.catalog_yaml import Where

_WITHOUT_EMBEDDINGS: Final = {
    Lane.MINUTES: frozenset({"anthropic", "vertex"}),
    Lane.HOURS: frozenset({"anthropic", "azure_openai", "vertex"}),
}


# Who answers no request without a limit of output tokens. Documents and many jobs name none.
_NEEDS_A_LIMIT: Final = frozenset({"anthropic"})


class Broken(NamedTuple):
    """A rule that does not hold, and where."""

    where: Where
    reason: str


def broken_rules(entries: Entries) -> Iterator[Broken]:
    yield from _shared_credentials(entries)
    for name, alias in entries.aliases.items():
        yield from _alias(entries, name, alias)
    for name, pipeline in entries.pipelines.items():
        yield from _pipeline(entries, name, pipeline)
    yield from _prices(entries)


def lane_of(pipeline: PipelineEntry, alias: AliasEntry) -> Lane:
    """The lane that is written; else hours for what gathers or can go nowhere else, minutes for the rest."""
    if pipeline.lane is not None:
        return pipeline.lane
    return Lane.HOURS if pipeline.gather or not alias.minutes else Lane.MINUTES


def embeds(deployment: DeploymentEntry) -> bool:
    return makes_vectors(deployment.model)


def _shared_credentials(entries: Entries) -> Iterator[Broken]:
    owners: dict[tuple[str, str], str] = {}
    for name, tenant in entries.tenants.items():
        for kind, credentials in (("keys", tenant.keys), ("principals", tenant.principals)):
            for position, credential in enumerate(credentials):
                owner = owners.setdefault((kind, credential), name)
                if owner != name:
                    yield Broken(
                        ("tenants", name, kind, position),
                        f"belongs to tenant {owner!r} already; a caller must be exactly one tenant",
                    )


def _alias(entries: Entries, name: str, alias: AliasEntry) -> Iterator[Broken]:
    kinds = set()
    for lane, deployments in ((Lane.MINUTES, alias.minutes), (Lane.HOURS, alias.hours)):
        for position, target in enumerate(deployments):
            where = ("aliases", name, lane.value, position)
            if target not in entries.named.get("deployments", ()):
                yield _unknown(entries, where, "deployments", target)
            elif deployment := entries.deployments.get(target):
                kinds.add(embeds(deployment))
                if embeds(deployment) and deployment.provider in _WITHOUT_EMBEDDINGS[lane]:
                    yield Broken(where, _no_embeddings(deployment.provider, lane))
                if deployment.provider in _NEEDS_A_LIMIT and alias.max_output_tokens is None:
                    why = f"{deployment.provider} answers nothing without a limit: give max_output_tokens"
                    yield Broken(("aliases", name), why)
                if missing := _missing(deployment, lane):
                    yield Broken(where, f"deployment {target!r} has no {missing}, which this lane needs")
    if len(kinds) > 1:
        yield Broken(("aliases", name), "mixes embedding models with others; give each its own alias")


def _missing(deployment: DeploymentEntry, lane: Lane) -> str | None:
    """The field without which the provider cannot be called in this lane."""
    if deployment.provider != "vertex":
        return None
    if deployment.project is None and (lane is Lane.HOURS or deployment.key_setting is None):
        return "project"
    return "bucket" if lane is Lane.HOURS and deployment.bucket is None else None


def _pipeline(entries: Entries, name: str, pipeline: PipelineEntry) -> Iterator[Broken]:
    where = ("pipelines", name)
    if pipeline.alias not in entries.named.get("aliases", ()):
        yield _unknown(entries, (*where, "alias"), "aliases", pipeline.alias)
        return
    alias = entries.aliases.get(pipeline.alias)
    if alias is None:
        return
    lane = lane_of(pipeline, alias)
    deployments = alias.hours if lane is Lane.HOURS else alias.minutes
    if not deployments:
        yield Broken((*where, "lane"), f"alias {pipeline.alias!r} has no deployment in the {lane.value} lane")
    for field in ("gather", "deadline_hours"):
        if lane is Lane.MINUTES and getattr(pipeline, field) is not None:
            yield Broken((*where, field), "belongs to the hours lane only")
    targets = [found for target in deployments if (found := entries.deployments.get(target))]
    yield from _task(where, pipeline, lane, targets)


def _task(
    where: Where, pipeline: PipelineEntry, lane: Lane, targets: list[DeploymentEntry]
) -> Iterator[Broken]:
    for deployment in targets:
        if pipeline.task == "embed":
            if deployment.provider in _WITHOUT_EMBEDDINGS[lane]:
                yield Broken((*where, "task"), _no_embeddings(deployment.provider, lane))
        elif embeds(deployment):
            yield Broken(
                (*where, "task"), f"alias {pipeline.alias!r} makes vectors; it cannot {pipeline.task}"
            )


def _prices(entries: Entries) -> Iterator[Broken]:
    known = entries.named.get("deployments", frozenset()) | {d.model for d in entries.deployments.values()}
    if len(entries.deployments) < len(entries.named.get("deployments", ())):
        # A bad deployment hides its model: no name can be called unknown yet.
        return
    for name in entries.prices:
        if name not in known:
            yield Broken(("prices", name), "is neither a deployment nor a model" + did_you_mean(name, known))


def _unknown(entries: Entries, where: Where, section: str, name: str) -> Broken:
    known = entries.named.get(section, frozenset())
    return Broken(where, f"{name!r} is not among the {section}{did_you_mean(name, known)}")


def _no_embeddings(provider: str, lane: Lane) -> str:
    return f"{provider} makes no embeddings in the {lane.value} lane; use another lane or provider"

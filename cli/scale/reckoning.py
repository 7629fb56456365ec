"""From quotas to instances and messages at once. Uses the app's own rules for its pace, so that both agree."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cli.scale.limits import CONNECTIONS, CONNECTIONS_OF_A_PROCESS, RECEIVES, Form
from shared.domain.catalog import Catalog, Deployment
from shared.domain.pace import (
    documents_beside,
    most_asked_for,
    most_held,
    places,
    share_per_minute,
)

# The app divides a quota between at most so many processes.
MOST_INSTANCES: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One call: the tokens in and out of it, and how long it takes. The defaults are those of the app's pace."""

    tokens: int = 2_000
    seconds: float = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one deployment of the minutes lane can do. None: its tokens per minute are not in the catalogue.

    `tokens`: a minute, of Postern's share. `calls`: under way at once, so that the share is used up.
    `instances`: the fewest that have so many places. `most`: with more, an instance's part holds no document.
    """

    deployment: Deployment
    tokens: int | None
    documents: int | None
    calls: int | None
    instances: int | None
    most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """At most so many instances, and why."""

    name: str
    arithmetic: str
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What one instance does of one deployment when all of them run."""

    need: Need
    tokens: int | None
    places: int
    documents: int
    in_hand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """`instances`: for `maxReplicaCount` or `maximumInstanceCount`, and for `POSTERN_MAX_INSTANCES`.

    `calls`: for `maxConcurrentCalls`, before the host multiplies it by an instance's cores. `backlog`: messages
    that one more instance is worth, KEDA's `messageCount`.
    """

    form: Form
    work: Work
    needs: tuple[Need, ...]
    bounds: tuple[Bound, ...]
    processes: tuple[Process, ...]
    instances: int
    calls: int
    backlog: int

    @property
    def limited_by(self) -> Bound | None:
        """What allows fewer instances than the quotas could use; None: nothing does."""
        wanted = wanted_instances(self.needs)
        met = [bound for bound in self.bounds if bound.most < wanted]
        return min(met, key=lambda bound: bound.most, default=None)


def size(catalog: Catalog, work: Work, form: Form) -> Sizing:
    needs = tuple(_need(deployment, work) for deployment in deployments_of_minutes(catalog))
    instances, bounds = _within_bounds(needs, form)
    processes = _processes(needs, instances)
    return Sizing(
        form=form,
        work=work,
        needs=needs,
        bounds=bounds,
        processes=processes,
        instances=instances,
        # Where the platform takes no less instances than these, each of them has to hold less.
        calls=min(_calls(processes, form), RECEIVES // (instances * form.cores)),
        backlog=max((process.documents for process in processes), default=1),
    )


def _within_bounds(needs: tuple[Need, ...], form: Form) -> tuple[int, tuple[Bound, ...]]:
    """Fewer instances hold more messages each, which may again be too many: reckon until it fits."""
    instances = max(wanted_instances(needs), form.least)
    while True:
        bounds = tuple(_bounds(needs, form, _calls(_processes(needs, instances), form)))
        fitting = max(min([instances, *(bound.most for bound in bounds)]), form.least)
        if fitting == instances:
            return instances, bounds
        instances = fitting


def deployments_of_minutes(catalog: Catalog) -> Sequence[Deployment]:
    """Those that some alias may ask in the minutes lane, in the catalogue's order."""
    asked = {name for alias in catalog.aliases.values() for name in alias.minutes}
    return [deployment for name, deployment in catalog.deployments.items() if name in asked]


def wanted_instances(needs: Iterable[Need]) -> int:
    """As many as the deployment needs that needs most: every instance works for all of them."""
    return max((need.instances for need in needs if need.instances is not None), default=1)


def unknown(sizings: Iterable[Sizing]) -> Sequence[str]:
    """The deployments whose tokens a minute the catalogue does not say, in its order."""
    names = [n.deployment.name for sizing in sizings for n in sizing.needs if n.tokens is None]
    return list(dict.fromkeys(names))


def as_json(sizing: Sizing) -> Mapping[str, object]:
    limit = sizing.limited_by
    return {
        "form": sizing.form.name,
        "instances": sizing.instances,
        "maxConcurrentCalls": sizing.calls,
        "messageCount": sizing.backlog,
        "limited_by": None if limit is None else limit.name,
        "bounds": {bound.name: bound.most for bound in sizing.bounds},
        "deployments": {
            process.need.deployment.name: {
                "tokens_per_minute": process.need.tokens,
                "documents_per_minute": process.need.documents,
                "calls_at_once": process.need.calls,
                "instances": process.need.instances,
                "of_one_instance": {
                    "tokens_per_minute": process.tokens,
                    "places": process.places,
                    "documents": process.documents,
                    "in_hand": process.in_hand,
                },
            }
            for process in sizing.processes
        },
    }


def _need(deployment: Deployment, work: Work) -> Need:
    tokens = share_per_minute(deployment.limits, instances=1)
    if tokens is None:
        return Need(deployment=deployment, tokens=None, documents=None, calls=None, instances=None, most=None)
    calls = max(math.ceil(tokens / work.tokens * work.seconds / 60), 1)
    most = max(min(tokens // work.tokens, MOST_INSTANCES), 1)
    return Need(
        deployment=deployment,
        tokens=tokens,
        documents=tokens // work.tokens,
        calls=calls,
        instances=_fewest(deployment, calls, most),
        most=most,
    )


def _fewest(deployment: Deployment, calls: int, most: int) -> int:
    """The fewest instances with so many places together; where none has, the fewest with the most."""

    def together(instances: int) -> int:
        return instances * places(share_per_minute(deployment.limits, instances=instances))

    enough = (instances for instances in range(1, most + 1) if together(instances) >= calls)
    return next(enough, max(range(1, most + 1), key=together))


def _processes(needs: Iterable[Need], instances: int) -> tuple[Process, ...]:
    return tuple(_process(need, instances) for need in needs)


def _process(need: Need, instances: int) -> Process:
    tokens = share_per_minute(need.deployment.limits, instances=instances)
    calls = places(tokens)
    documents = documents_beside(calls)
    # What others hold beside a tenant that has all, and what waits for a moment.
    in_hand = most_held(documents) + most_asked_for(documents) - documents
    return Process(need=need, tokens=tokens, places=calls, documents=documents, in_hand=in_hand)


def _calls(processes: Iterable[Process], form: Form) -> int:
    """All that a process can hold, up to the next power of two: the rest is looked at and passed on."""
    in_hand = sum(process.in_hand for process in processes)
    return max(math.ceil((1 << (max(in_hand, 1) - 1).bit_length()) / form.cores), 1)


def _bounds(needs: Iterable[Need], form: Form, calls: int) -> Iterable[Bound]:
    known = [need for need in needs if need.most is not None and need.tokens is not None]
    if known:
        least = min(known, key=lambda need: need.most or 0)
        yield Bound(
            name="tokens",
            arithmetic=f"{least.deployment.name}: one document a minute and instance at least",
            most=least.most or 1,
        )
    receives = calls * form.cores
    yield Bound(
        name="receives",
        arithmetic=f"{RECEIVES:,} of the queue / {receives} of an instance",
        most=max(RECEIVES // receives, 1),
    )
    yield Bound(
        name="connections",
        arithmetic=f"{CONNECTIONS:,} of the namespace / {CONNECTIONS_OF_A_PROCESS} of an instance",
        most=CONNECTIONS // CONNECTIONS_OF_A_PROCESS,
    )
    if form.of_all is not None:
        yield Bound(
            name="cores",
            arithmetic=f"{form.of_all} of the region / {form.cores} of an instance",
            most=form.of_all // form.cores,
        )
    yield Bound(name="platform", arithmetic=f"{form.title}: at most", most=form.most)

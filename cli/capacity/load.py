"""A day's work, and how much of each limit it takes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cli.capacity import limits
from cli.scale.limits import CORES, FLEX, RECEIVES
from cli.scale.reckoning import Sizing, deployments_of_minutes
from shared.domain.catalog import Catalog, Deployment

DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """`requests` of the hours lane and `documents` of the minutes lane a day, all of one tenant at worst.

    `hours`: how long a batch takes. `busy_hours`: in so many of the day's hours all documents come.
    """

    requests: int
    documents: int
    tokens: int
    requests_of_a_job: int
    hours: float
    busy_hours: float

    @property
    def jobs(self) -> int:
        return math.ceil(self.requests / self.requests_of_a_job)

    @property
    def batches_at_once(self) -> float:
        """One for each job, as long as no job is larger than a batch may be."""
        return self.jobs * self.hours / 24

    @property
    def looks_a_second(self) -> float:
        return self.batches_at_once / limits.SECONDS_BETWEEN_LOOKS

    @property
    def documents_a_second(self) -> float:
        return self.documents / (self.busy_hours * 3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How much of a limit is taken. `available` None: the catalogue does not say."""

    name: str
    how: str
    needed: float
    available: float | None
    then: str

    @property
    def part(self) -> float | None:
        return None if self.available is None else self.needed / self.available


def uses(load: Load, catalog: Catalog, sizing: Sizing) -> Sequence[Use]:
    """The one that is met first comes first; what is not known comes last, and what is not needed is left out."""
    found = [*_of_hours(load, catalog), *_of_minutes(load, catalog, sizing), *_of_storage(load)]
    return sorted(
        (use for use in found if use.needed),
        key=lambda use: math.inf if use.part is None else -use.part,
    )


def _of_hours(load: Load, catalog: Catalog) -> Iterator[Use]:
    batch = _deployments_of_hours(catalog)
    known = [d.limits.enqueued_tokens for d in batch if d.limits.enqueued_tokens is not None]
    accounts = max(len({deployment.endpoint for deployment in batch}), 1)
    yield Use(
        name="enqueued tokens",
        how=f"{load.requests:,} x {load.tokens:,} x {load.hours:g} h / 24 h",
        needed=load.requests * load.tokens * load.hours / 24,
        available=sum(known) if known else None,
        then="ask for more quota, or a further account with an alias of its own",
    )
    yield Use(
        name="files of a model account",
        how=f"{load.jobs:,} jobs x {load.hours:g} h / 24 h",
        needed=load.batches_at_once,
        available=limits.FILES * accounts,
        then="send larger jobs; a further account",
    )
    yield Use(
        name="looks at batches a second",
        how=f"{load.batches_at_once:,.0f} batches / {limits.SECONDS_BETWEEN_LOOKS} s",
        needed=load.looks_a_second,
        available=limits.PARTITIONS * limits.ACTIVITIES_AT_ONCE / limits.SECONDS_OF_A_LOOK,
        then="a larger POSTERN_POLL_SECONDS, more activities at once; partitionCount of a new task hub",
    )
    yield Use(
        name="operations a second on a shard of pulses",
        how=f"{load.looks_a_second:,.1f} looks x {limits.PULSE_OPERATIONS_OF_A_LOOK} / {limits.PULSE_SHARDS}",
        needed=load.looks_a_second * limits.PULSE_OPERATIONS_OF_A_LOOK / limits.PULSE_SHARDS,
        available=limits.OPERATIONS_OF_A_PARTITION,
        then="a larger POSTERN_POLL_SECONDS",
    )


def _of_minutes(load: Load, catalog: Catalog, sizing: Sizing) -> Iterator[Use]:
    tokens = [need.tokens for need in sizing.needs if need.tokens is not None]
    a_minute = load.documents_a_second * 60
    yield Use(
        name="tokens a minute",
        how=f"{a_minute:,.0f} documents x {load.tokens:,}",
        needed=a_minute * load.tokens,
        available=max(tokens) if tokens and deployments_of_minutes(catalog) else None,
        then="a larger quota or share; drop what can wait into a pipeline of the hours lane",
    )
    yield Use(
        name="receives of the queue",
        how=f"{sizing.instances} instances x {sizing.calls * sizing.form.cores}",
        needed=sizing.instances * sizing.calls * sizing.form.cores if load.documents else 0,
        available=RECEIVES,
        then="a smaller maxConcurrentCalls; a second stack with tenants of its own",
    )
    if sizing.form is FLEX:
        yield Use(
            name="cores of the region",
            how=f"{sizing.instances} instances x {sizing.form.cores}",
            needed=sizing.instances * sizing.form.cores if load.documents else 0,
            available=CORES,
            then="ask for more cores; AKS or Container Apps",
        )
    yield Use(
        name="operations a second on the bus",
        how=f"{load.documents_a_second:,.1f} documents x {limits.BUS_OPERATIONS_OF_A_DOCUMENT}",
        needed=load.documents_a_second * limits.BUS_OPERATIONS_OF_A_DOCUMENT,
        available=limits.BUS_OPERATIONS,
        then="the premium tier",
    )
    yield Use(
        name="operations a second on a tenant's documents",
        how=f"{load.documents_a_second:,.1f} documents x {limits.TENANT_OPERATIONS_OF_A_DOCUMENT}",
        needed=load.documents_a_second * limits.TENANT_OPERATIONS_OF_A_DOCUMENT,
        available=limits.OPERATIONS_OF_A_PARTITION,
        then="several tenants: each has a partition of its own",
    )


def _of_storage(load: Load) -> Iterator[Use]:
    of_jobs = load.jobs * (limits.TABLE_OPERATIONS_OF_A_JOB + limits.BLOB_OPERATIONS_OF_A_JOB) / DAY
    of_looks = load.looks_a_second * limits.TABLE_OPERATIONS_OF_A_LOOK
    of_a_document = limits.TABLE_OPERATIONS_OF_A_DOCUMENT + limits.BLOB_OPERATIONS_OF_A_DOCUMENT
    yield Use(
        name="operations a second on the storage account",
        how="jobs, looks and documents together",
        needed=of_jobs + of_looks + load.documents_a_second * of_a_document,
        available=limits.OPERATIONS_OF_AN_ACCOUNT,
        then="a region with larger accounts; a second stack with tenants of its own",
    )
    yield Use(
        name=f"rows that {limits.DAYS_OF_USAGE} days of a tenant's usage read",
        how=f"({load.jobs:,} batches + {load.documents:,} documents) x {limits.DAYS_OF_USAGE}",
        needed=(load.jobs + load.documents) * limits.DAYS_OF_USAGE,
        available=limits.HTTP_SECONDS * limits.ROWS_A_SECOND,
        then="ask for shorter windows and add them up; several tenants",
    )


def _deployments_of_hours(catalog: Catalog) -> Sequence[Deployment]:
    asked = {name for alias in catalog.aliases.values() for name in alias.hours}
    batches = [deployment for name, deployment in catalog.deployments.items() if name in asked]
    return [deployment for deployment in batches if deployment.provider == "azure_openai"]

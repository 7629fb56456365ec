"""The whole app on in-memory parts and a clock that stands still: everything but the sockets is real."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any

import msgspec

from shared.adapters.memory.blobs import MemoryBlobs
from shared.adapters.memory.clock import FixedClock
from shared.adapters.memory.events import MemoryEvents
from shared.adapters.memory.extractor import MemoryExtractor
from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider import MemoryProvider
from shared.adapters.memory.queue import MemoryQueue
from shared.adapters.memory.tables import MemoryTables
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.pricing.schemas import JsonschemaRsSchemas
from shared.adapters.pricing.tokens import ToktokTokens
from shared.adapters.providers._openai_lines import read_row
from shared.bootstrap import App, Parts, build
from shared.domain.catalog import Alias, Catalog, Deployment, Tenant
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.jobs import Job
from shared.domain.planning import Limits
from shared.ports.providers import BatchProvider
from shared.services.policy import Policy
from shared.services.read_job import SeenJob
from shared.stores.jobs import job_id
from shared.wire.bodies import read_job
from tests.support.engine import Engine

START = datetime(2026, 11, 30, 8, tzinfo=UTC)
SUPPORT = Tenant(id=TenantId("support"))
RETAIL = Tenant(id=TenantId("retail"))
ROOMY = Limits(requests=100_000, bytes=200_000_000, line_bytes=200_000_000)


def a_catalog() -> Catalog:
    mini = Deployment(
        name=DeploymentName("mini-batch"),
        provider="azure_openai",
        model="gpt-5-mini",
        deployment="mini-batch",
    )
    alias = Alias(name=AliasName("summarize"), hours=(mini.name,), max_output_tokens=400)
    return Catalog(
        tenants=MappingProxyType({t.id: t for t in (SUPPORT, RETAIL)}),
        deployments=MappingProxyType({mini.name: mini}),
        aliases=MappingProxyType({alias.name: alias}),
    )


@dataclass
class FixedCatalog:
    catalog: Catalog = field(default_factory=a_catalog)

    async def current(self) -> Catalog:
        return self.catalog


@dataclass
class OneProvider:
    provider: BatchProvider

    def batch(self, deployment: Deployment) -> BatchProvider:
        return self.provider


Wrap = Callable[[Any], Any]


class World:
    """`wrap` goes around every port with effects: a power supply, or nothing."""

    def __init__(self, *, limits: Limits = ROOMY, policy: Policy | None = None) -> None:
        self.clock = FixedClock(START)
        self.tables = MemoryTables()
        self.blobs = MemoryBlobs(self.clock)
        self.events = MemoryEvents()
        self.queue = MemoryQueue(self.clock)
        self.models = MemoryModels()
        self.provider = MemoryProvider(clock=self.clock, read_row=read_row, limits=limits)
        self.catalog = FixedCatalog()
        self.extractor = MemoryExtractor()
        self.policy = policy or Policy(poll=timedelta(seconds=60), create_timeout=timedelta(seconds=30))
        self.engine = Engine(self.clock)
        self._jobs = 0
        self.app = self.power_up()

    def power_up(self, wrap: Wrap = lambda port: port) -> App:
        """An app process over what is stored. Call it again after a crash."""
        return build(
            Parts(
                tables=wrap(self.tables),
                blobs=wrap(self.blobs),
                events=wrap(self.events),
                clock=self.clock,
                catalog=self.catalog,
                providers=OneProvider(wrap(self.provider)),
                models=wrap(self.models),
                queue=wrap(self.queue),
                prices=GenaiPrices(),
                tokens=ToktokTokens(),
                schemas=JsonschemaRsSchemas(),
                extractor=self.extractor,
                verifier=None,
                policy=self.policy,
            )
        )

    async def submit(self, body: Mapping[str, Any], *, tenant: Tenant = SUPPORT) -> Job:
        """Post a job, as HTTP would; nothing runs yet."""
        content = msgspec.json.encode(body)
        self._jobs += 1
        new_id = job_id(int(self.clock.now().timestamp() * 1000), f"{self._jobs:016x}")
        return await self.app.accept_job(tenant, read_job(content), len(content), new_id, self.engine)

    async def run(self) -> None:
        """Until every orchestration has said its last word."""
        await self.engine.run(self.app)

    async def see(self, job: Job) -> SeenJob:
        return await self.app.read_job.one(job.tenant, job.id)

    async def results(self, job: Job) -> list[dict[str, Any]]:
        pieces = await self.app.read_job.results(await self.see(job), partial=False)
        content = b"".join([piece async for piece in pieces])
        return [msgspec.json.decode(line) for line in content.splitlines()]


def a_body(texts: Sequence[str], **more: Any) -> dict[str, Any]:
    """A job of one chat request a text, named `r-0`, `r-1`, ..."""
    requests = [
        {"custom_id": f"r-{i}", "body": {"messages": [{"role": "user", "content": text}]}}
        for i, text in enumerate(texts)
    ]
    return {"alias": "summarize", "requests": requests, **more}

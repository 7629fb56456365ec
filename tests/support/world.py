"""The whole app on in-memory parts and a clock that stands still: everything but the sockets is real."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
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
from shared.adapters.pricing.windows import GenaiWindows
from shared.adapters.providers.openai.lines import read_row
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.adapters.text.splitter import SemanticSplitter
from shared.adapters.text.tokens import ToktokTokens
from shared.bootstrap import App, Parts, build
from shared.domain.catalog import Alias, Catalog, Deployment, Tenant
from shared.domain.chunks import Chunk, read_chunk_key
from shared.domain.findings import Finding
from shared.domain.ids import AliasName, DeploymentName, JobId, TenantId
from shared.domain.jobs import Job
from shared.domain.ledger import LedgerRow
from shared.domain.planning import Limits
from shared.domain.usage import Usage
from shared.ports.events import Event
from shared.ports.providers import BatchProvider
from shared.services.jobs.read_job import SeenJob
from shared.services.policy import Policy
from shared.stores.jobs import Chunks, job_id
from shared.stores.ledger import Ledger
from shared.wire.bodies import read_job, read_retry
from tests.support.engine import Engine

START = datetime(2026, 11, 30, 8, tzinfo=UTC)
SUPPORT = Tenant(id=TenantId("support"))
RETAIL = Tenant(id=TenantId("retail"))
# They only read what comes with their packages, and that once.
PRICES = GenaiPrices()
TOKENS = ToktokTokens()
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

    async def prepare(self, deployment: Deployment) -> None:
        return


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
        self.chunks = Chunks(self.tables)
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
                sleep=self.clock.sleep,
                catalog=self.catalog,
                providers=OneProvider(wrap(self.provider)),
                models=wrap(self.models),
                queue=wrap(self.queue),
                prices=PRICES,
                tokens=TOKENS,
                splitter=SemanticSplitter(TOKENS),
                windows=GenaiWindows(),
                schemas=JsonschemaRsSchemas(),
                extractor=self.extractor,
                verifier=None,
                policy=self.policy,
            )
        )

    # What people do

    def new_id(self) -> JobId:
        self._jobs += 1
        return job_id(int(self.clock.now().timestamp() * 1000), f"{self._jobs:016x}")

    async def submit(self, body: Mapping[str, Any], *, tenant: Tenant = SUPPORT) -> Job:
        """Post a job, as HTTP would; nothing runs yet."""
        content = msgspec.json.encode(body)
        return await self.app.accept_job(tenant, read_job(content), len(content), self.new_id(), self.engine)

    async def cancel(self, job: Job) -> Job:
        return await self.app.cancel_job(job.tenant, job.id, self.engine)

    async def retry(self, job: Job, **body: Any) -> Job:
        asked = read_retry(msgspec.json.encode(body))
        return await self.app.retry_job(job.tenant, job.id, asked, self.new_id(), self.engine)

    # One step at a time

    async def plan(self, job: Job, *, run: int = 1) -> list[int]:
        """The numbers of the chunks that are open now."""
        return (await self.app.plan_round(job.tenant, job.id, run)).chunks

    async def advance(self, job: Job, n: int = 0, *, run: int = 1) -> float | None:
        """Seconds until the next call; None: the chunk is done."""
        wait = await self.app.advance_chunk(job.tenant, job.id, n, run)
        return wait.total_seconds() if wait is not None else None

    async def planned(self, body: Mapping[str, Any]) -> Job:
        """A job that is accepted and planned, and drives itself nowhere."""
        job = await self.submit(body)
        self.engine.instances.clear()
        await self.plan(job)
        return job

    # What happens by itself

    async def run(self) -> None:
        """Until every orchestration has said its last word."""
        await self.engine.run(self.app)

    async def pass_time(self, **duration: float) -> None:
        """Let time pass, with everything that falls due in it; `hours=1`, as for a timedelta."""
        await self.engine.pass_time(self.app, timedelta(**duration))

    async def sweep(self) -> None:
        await self.app.sweep(self.engine)

    async def crash(self) -> None:
        """The process ends, and with it every orchestration; what is stored stays."""
        await self.engine.lose_everything()
        self.app = self.power_up()

    # What there is to see

    async def see(self, job: Job) -> SeenJob:
        return await self.app.read_job.one(job.tenant, job.id)

    async def status(self, job: Job) -> str:
        return (await self.see(job)).job.status.value

    async def chunk(self, job: Job, n: int = 0) -> Chunk:
        return (await self.chunks.load(job.id, n)).value

    async def results(self, job: Job, *, partial: bool = False) -> list[dict[str, Any]]:
        pieces = await self.app.read_job.results(await self.see(job), partial=partial)
        return await json_lines(pieces)

    async def outcomes(self, job: Job) -> Counter[str]:
        """How many inputs ended how, `failed/missing` or just `succeeded`."""
        verdicts = [f"{r['outcome']}/{r['reason']}" for r in await self.results(job)]
        return Counter(verdict.removesuffix("/None") for verdict in verdicts)

    async def ledger(self, tenant: Tenant = SUPPORT) -> list[LedgerRow]:
        end = self.clock.now() + timedelta(seconds=1)
        return [row async for row in Ledger(self.tables).between(tenant.id, START, end)]

    async def findings(self, tenant: Tenant | None = SUPPORT) -> list[Finding]:
        """A tenant's, or with None those for operators only."""
        return [f async for f in self.app.findings.of(tenant.id if tenant else None)]

    def announced(self, kind: str) -> list[Event]:
        """The events of one type that were published, repeats included."""
        return [event for event in self.events.published if event.type == kind]

    async def bill(self) -> Usage:
        """All that the provider has billed."""
        batches = [batch async for batch in self.provider.batches(since=START)]
        return sum((batch.usage for batch in batches if batch.usage), Usage())

    async def sent(self, batch: int = -1) -> int:
        """How many requests a batch had, by order of creation."""
        rows = [chunk async for chunk in self._chunks_by_creation()]
        return rows[batch].requests

    async def _chunks_by_creation(self) -> AsyncIterator[Chunk]:
        for key in self.provider.created:
            named = read_chunk_key(key)
            assert named is not None
            yield (await self.chunks.load(named.job_id, named.n)).value


async def json_lines(pieces: AsyncIterator[bytes]) -> list[dict[str, Any]]:
    content = b"".join([piece async for piece in pieces])
    return [msgspec.json.decode(line) for line in content.split(b"\n") if line]


def a_body(texts: Sequence[str], **more: Any) -> dict[str, Any]:
    """A job of one chat request a text, named `r-0`, `r-1`, ..."""
    requests = [
        {"custom_id": f"r-{i}", "body": {"messages": [{"role": "user", "content": text}]}}
        for i, text in enumerate(texts)
    ]
    return {"alias": "summarize", "requests": requests, **more}

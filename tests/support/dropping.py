"""The world of dropped documents: a container to drop into, a queue that delivers, and a look at what came of it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import msgspec

from shared.adapters.memory.model import MemoryModel
from shared.bootstrap import App
from shared.domain.catalog import Alias, Catalog, Deployment, Lane, Pipeline, Tenant
from shared.domain.documents import Document
from shared.domain.ids import AliasName, DeploymentName, TenantId
from shared.domain.planning import Limits
from shared.services.documents.claim_document import Claimed
from shared.services.policy import Policy
from shared.stores.documents import Documents
from tests.support.streams import stream, whole
from tests.support.world import ROOMY, World, a_catalog

STRICT = Tenant(id=TenantId("strict"), required_tags=("project",))
MINI = Deployment(name=DeploymentName("mini"), provider="azure_openai", model="gpt-5-mini", deployment="mini")
PIPELINES = (
    Pipeline(name="notes", task="summarize", alias=AliasName("summarize"), lane=Lane.MINUTES),
    Pipeline(name="knowledge", task="embed", alias=AliasName("vectors"), lane=Lane.MINUTES, split_tokens=16),
    Pipeline(
        name="tickets",
        task="summarize",
        alias=AliasName("summarize"),
        lane=Lane.HOURS,
        gather="0 0 1 * * *",
        deadline_hours=6,
    ),
)


def a_catalog_with_pipelines() -> Catalog:
    base = a_catalog()
    summarize = replace(base.alias("summarize"), minutes=(MINI.name,))
    careful = Alias(name=AliasName("careful"), minutes=(MINI.name,))
    vectors = Alias(name=AliasName("vectors"), minutes=(MINI.name,))
    nightly = Alias(name=AliasName("nightly"), hours=(next(iter(base.deployments)),))
    return Catalog(
        tenants=MappingProxyType({**base.tenants, STRICT.id: STRICT}),
        deployments=MappingProxyType({**base.deployments, MINI.name: MINI}),
        aliases=MappingProxyType({a.name: a for a in (summarize, careful, vectors, nightly)}),
        pipelines=MappingProxyType({p.name: p for p in PIPELINES}),
    )


class DocumentWorld(World):
    """`drop` puts a file into the container, `claim` is its event, `deliver` lets the queue run dry."""

    def __init__(self, *, limits: Limits = ROOMY, policy: Policy | None = None) -> None:
        super().__init__(limits=limits, policy=policy)
        self.catalog.catalog = a_catalog_with_pipelines()
        self.documents = Documents(self.tables)

    @property
    def model(self) -> MemoryModel:
        return self.models.of("mini")

    async def drop(
        self, path: str, content: bytes = b"Some text.", *, metadata: Mapping[str, str] | None = None
    ) -> str:
        """The blob's whole path; nothing has noticed it yet."""
        place = f"documents/{path}"
        await self.blobs.write(place, stream(content), content_type="text/plain", metadata=metadata or {})
        return place

    async def claim(self, path: str, content: bytes = b"Some text.", **metadata: str) -> Claimed:
        """Drop a file, and tell the app once."""
        return await self.app.claim_document(await self.drop(path, content, metadata=metadata))

    async def deliver(self, app: App | None = None, *, within: timedelta = timedelta(days=2)) -> int:
        """Deliver what is or will be due, as the host does; how many deliveries that took."""
        app, end, deliveries = app or self.app, self.clock.now() + within, 0
        while True:
            delivery = self.queue.receive()
            if delivery is not None:
                deliveries += 1
                try:
                    await app.process_document(delivery.message.body)
                except Exception:  # noqa: BLE001 the host abandons whatever a function raises
                    self.queue.abandon(delivery)
                else:
                    self.queue.complete(delivery)
                continue
            due = self.queue.next_due()
            if due is None or due > end:
                return deliveries
            self.clock.advance(max(due - self.clock.now(), timedelta(0)))

    async def process(self, path: str, content: bytes = b"Some text.", **metadata: str) -> Document:
        """From the drop to the end."""
        await self.claim(path, content, **metadata)
        await self.deliver()
        return await self.one()

    async def all(self, tenant: str | None = "support") -> list[Document]:
        owner = TenantId(tenant) if tenant is not None else None
        return [document async for document in self.documents.newest_first(owner)]

    async def one(self, tenant: str | None = "support") -> Document:
        """The only document of the tenant."""
        [document] = await self.all(tenant)
        return document

    async def result(self, path: str) -> dict[str, Any] | None:
        """What lies beside the document."""
        place = f"results/{path}.json"
        if await self.blobs.head(place) is None:
            return None
        found: dict[str, Any] = msgspec.json.decode(await whole(self.blobs.read(place)))
        return found

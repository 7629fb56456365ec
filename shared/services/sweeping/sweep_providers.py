"""Compare what providers run with what our records say: work that went round the door, batches nobody explains."""

import logging
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared.domain.catalog import Catalog, Deployment
from shared.domain.chunks import Chunk, read_chunk_key
from shared.domain.errors import NotFound, PosternError
from shared.domain.findings import Finding, FindingKind
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.providers import Providers, RemoteBatch
from shared.services.announce import Notice
from shared.services.chunks.own_batches import OwnBatches
from shared.stores.jobs import Chunks

log = logging.getLogger(__name__)

# Further back than any pause between two sweeps should be.
LOOK_BACK: Final = timedelta(hours=6)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepProviders:
    chunks: Chunks
    own: OwnBatches
    catalog: CatalogSource
    providers: Providers
    notice: Notice
    clock: Clock

    async def __call__(self) -> None:
        """Look at every account once. One that does not answer does not hide the others."""
        now = self.clock.now()
        for deployment in _one_an_account(await self.catalog.current()):
            try:
                await self.providers.prepare(deployment)
                async for batch in self.providers.batch(deployment).batches(since=now - LOOK_BACK):
                    await self._look_at(deployment, batch, now)
            except PosternError as error:
                log.warning("sweep.account_failed", extra={"deployment": deployment.name, "why": str(error)})

    async def _look_at(self, deployment: Deployment, batch: RemoteBatch, now: datetime) -> None:
        key = batch.key or await self.own.holder(deployment.provider, batch.id)
        if key is None:
            if not await self.own.awaited(deployment.provider, batch.requests):
                await self.notice(_side_door(deployment, batch, now))
            return
        batch = replace(batch, key=key)
        named = read_chunk_key(key)
        if named is None:
            await self.notice(_unexplained(deployment, batch, now, "its key is none of ours"))
            return
        try:
            chunk = (await self.chunks.load(named.job_id, named.n)).value
        except NotFound:
            await self.notice(_unexplained(deployment, batch, now, "there is no record of its chunk"))
            return
        if _is_a_second_one(chunk, batch):
            why = f"the record of its chunk names batch {chunk.remote.batch} under the same key"
            await self.notice(_unexplained(deployment, batch, now, why))


def _is_a_second_one(chunk: Chunk, batch: RemoteBatch) -> bool:
    """An earlier submission is explained: the provider said that it never ran."""
    return chunk.key == batch.key and chunk.remote.batch not in (None, batch.id)


def _one_an_account(catalog: Catalog) -> list[Deployment]:
    """One deployment of the hours lane for each place that lists batches."""
    names = {name for alias in catalog.aliases.values() for name in alias.hours}
    accounts: dict[tuple[str, str | None, str | None], Deployment] = {}
    for name in sorted(names):
        deployment = catalog.deployment(name)
        place = (deployment.provider, deployment.endpoint, deployment.key_setting)
        accounts.setdefault(place, deployment)
    return list(accounts.values())


def _side_door(deployment: Deployment, batch: RemoteBatch, now: datetime) -> Finding:
    return Finding(
        kind=FindingKind.SIDE_DOOR,
        subject=batch.id,
        tenant=None,
        message=f"batch {batch.id} runs on the account of deployment {deployment.name!r} and was not submitted"
        " through this door: its tokens have no owner; find out whose it is and close that way",
        found_at=now,
        detail={"deployment": deployment.name, "provider": deployment.provider},
    )


def _unexplained(deployment: Deployment, batch: RemoteBatch, now: datetime, why: str) -> Finding:
    return Finding(
        kind=FindingKind.UNEXPLAINED_BATCH,
        subject=batch.id,
        tenant=None,
        message=f"batch {batch.id} of deployment {deployment.name!r} carries the key {batch.key}, but {why}",
        found_at=now,
        detail={"deployment": deployment.name, "provider": deployment.provider},
    )

"""The sweep's walk through the drop zone: whatever lies there without a record is claimed.

Part of it at every pass, from where the last one ended. What an earlier round has seen is not looked up again.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import batched
from typing import Final

from shared.domain.catalog import Catalog
from shared.domain.documents import document_id
from shared.domain.errors import NotFound, PosternError
from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import TenantId
from shared.ports.blobs import BlobInfo, BlobPage, Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.services.announce import Notice
from shared.services.documents.claim_document import ClaimDocument, Claimed
from shared.services.documents.event_progress import EventProgress
from shared.services.policy import Policy
from shared.stores.cursors import Cursors, Round
from shared.stores.documents import Documents
from shared.wire.drops import Drop, read_drop
from shared.wire.paths import DOCUMENTS

log = logging.getLogger(__name__)

NAME: Final = "drop-zone"
# A pass ends after so many pages of a listing, or so many look-ups of records.
MAX_PAGES: Final = 20
MAX_LOOK_UPS: Final = 2_000
SIDE_BY_SIDE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDropZone:
    documents: Documents
    cursors: Cursors
    progress: EventProgress
    blobs: Blobs
    catalog: CatalogSource
    claim: ClaimDocument
    notice: Notice
    clock: Clock
    policy: Policy

    async def __call__(self) -> None:
        now = self.clock.now()
        place = await self.cursors.find(NAME) or Round(cursor=None, began_at=now)
        overdue = await self.progress.overdue_before(self.policy.stuck_after)
        if place.cursor is None:
            # What is young, or behind others in the claims' queue, is left to its event: the next round looks
            # at it again.
            place = replace(place, began_at=overdue + self.policy.stuck_after)
        overdue = max(overdue, place.began_at - self.policy.stuck_after)
        look_ups = 0
        for _ in range(MAX_PAGES):
            page = await self._page(place)
            if not page.blobs and place.cursor is None:
                return  # nothing was ever dropped, so there is nothing to remember
            look_ups += await self._look_at(page, place, overdue)
            if page.cursor is None:
                seen = place.began_at - self.policy.stuck_after
                place = Round(cursor=None, began_at=now, verified_until=seen)
                break
            place = replace(place, cursor=page.cursor)
            if look_ups >= MAX_LOOK_UPS:
                break
        await self.cursors.put(NAME, place)

    async def _page(self, place: Round) -> BlobPage:
        prefix = f"{DOCUMENTS}/"
        try:
            return await self.blobs.page(prefix, cursor=place.cursor)
        except NotFound:
            return await self.blobs.page(prefix)

    async def _look_at(self, page: BlobPage, place: Round, overdue: datetime) -> int:
        """How many records were looked up."""
        candidates = [info for info in page.blobs if _is_candidate(info, place, overdue)]
        catalog = await self.catalog.current()
        for some in batched(candidates, SIDE_BY_SIDE, strict=False):
            await asyncio.gather(*(self._check(info, catalog) for info in some))
        return len(candidates)

    async def _check(self, info: BlobInfo, catalog: Catalog) -> None:
        drop = read_drop(info.path)
        if drop is None or await self._is_known(drop, info, catalog):
            return
        try:
            if await self.claim(info.path, by_event=False) is Claimed.NEW:
                await self.notice(missed_finding(drop, info, catalog, self.clock.now()))
        except PosternError as error:
            log.warning("sweep.look_failed", extra={"what": "drop", "why": str(error)})

    async def _is_known(self, drop: Drop, info: BlobInfo, catalog: Catalog) -> bool:
        name = document_id(drop.path, info.etag, info.modified_at)
        tenant = TenantId(drop.tenant)
        if tenant in catalog.tenants and await self.documents.find(tenant, name) is not None:
            return True
        # Its tenant or pipeline may not have been known when it was claimed.
        return await self.documents.find(None, name) is not None


def _is_candidate(info: BlobInfo, place: Round, overdue: datetime) -> bool:
    if info.modified_at >= overdue:
        return False
    return place.verified_until is None or info.modified_at >= place.verified_until


def missed_finding(drop: Drop, info: BlobInfo, catalog: Catalog, now: datetime) -> Finding:
    tenant = TenantId(drop.tenant)
    return Finding(
        kind=FindingKind.MISSED_EVENT,
        subject=f"{drop.tenant}/{drop.pipeline}@{now:%Y-%m-%dT%H}"[:512],
        tenant=tenant if tenant in catalog.tenants else None,
        message=f"a document was dropped at {info.modified_at:%Y-%m-%d %H:%M:%S} UTC and no event came; it is"
        " claimed now. Others of this hour are claimed and not reported one by one: look at the event"
        " subscription if they are many",
        found_at=now,
        detail={"document_id": document_id(drop.path, info.etag, info.modified_at)},
    )

"""Lay a document's result beside it, unless a newer version's result lies there already."""

import logging
from dataclasses import dataclass, replace

from shared.domain.answers import Answer
from shared.domain.documents import Document, PathVersions
from shared.domain.errors import Conflict
from shared.ports.blobs import Blobs
from shared.services.extraction import GONE
from shared.services.streams import one_piece
from shared.stores.documents import Paths
from shared.stores.stored import Stored
from shared.wire import paths as places
from shared.wire.document_views import result_bytes

log = logging.getLogger(__name__)

MEDIA_TYPE = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishResult:
    paths: Paths
    blobs: Blobs

    async def __call__(self, document: Document, answer: Answer) -> bool:
        """False: there was no place for it. Safe to repeat."""
        target = places.result(document.path)
        if answer.superseded or target is None:
            return False
        while True:
            try:
                return await self._publish(target, document, answer)
            except Conflict as moved:
                log.info("result.contended", extra={"document": document.id, "why": str(moved)})

    async def _publish(self, target: str, document: Document, answer: Answer) -> bool:
        # The look comes before the claim to stand there: whoever writes after it is noticed by the write,
        # whoever wrote before it has said so in the row.
        there = await self.blobs.head(target)
        row = await self.paths.find(document.path)
        if row is not None:
            if answer.reason == GONE and row.value.newest > document.version:
                return False  # the place is for what became of the newer one
            if not await self._stand(row, document):
                return False
        await self.blobs.write(
            target,
            one_piece(result_bytes(document, answer)),
            content_type=MEDIA_TYPE,
            overwrite=there is not None,
            if_etag=there.etag if there is not None else None,
        )
        return True

    async def _stand(self, row: Stored[PathVersions], document: Document) -> bool:
        standing = row.value.standing
        if standing > document.version:
            return False
        if standing < document.version:
            await self.paths.replace(row, replace(row.value, standing=document.version))
        return True

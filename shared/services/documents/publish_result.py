"""Lay a document's result beside it, unless a newer version's result lies there already."""

import logging
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from itertools import batched
from typing import Final

from shared.domain.answers import Answer
from shared.domain.documents import Document, PathVersions
from shared.domain.errors import Conflict
from shared.ports.blobs import BlobInfo, Blobs
from shared.services.extraction import GONE
from shared.services.streams import Pause, one_piece
from shared.stores.documents import Paths
from shared.stores.stored import Stored
from shared.wire import paths as places
from shared.wire.document_views import result_bytes
from shared.wire.pieces import piece_lines

log = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/json"
LINES: Final = "application/jsonl"
# Lines of some kilobytes each, with the vector in them.
_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishResult:
    paths: Paths
    blobs: Blobs

    async def __call__(self, document: Document, answer: Answer) -> bool:
        """False: there was no place for it. Safe to repeat."""
        target = places.result(document.path)
        if answer.superseded or target is None:
            return False
        # Where nothing has lain before, nothing is looked for: the write notices what is there after all.
        is_first = document.version == 1 and document.retries == 0
        while True:
            try:
                return await self._publish(target, document, answer, look=not is_first)
            except Conflict as moved:
                is_first = False
                log.info("result.contended", extra={"document": document.id, "why": str(moved)})

    async def _publish(self, target: str, document: Document, answer: Answer, *, look: bool) -> bool:
        # The look comes before the claim to stand there: whoever writes after it is noticed by the write,
        # whoever wrote before it has said so in the row.
        there = await self.blobs.head(target) if look else None
        pieces = await self._place_for_pieces(document, answer, look=look, is_first=there is None)
        row = await self.paths.find(document.path)
        if row is not None:
            if answer.reason == GONE and row.value.newest > document.version:
                return False  # the place is for what became of the newer one
            if not await self._stand(row, document):
                return False
        if pieces is not None:
            answer = await self._publish_pieces(pieces, document, answer)
        await self._write(target, there, one_piece(result_bytes(document, answer)), MEDIA_TYPE)
        return True

    async def _place_for_pieces(
        self, document: Document, answer: Answer, *, look: bool, is_first: bool
    ) -> "_Pieces | None":
        """Where the pieces go; None: there are none, and none of another version lie there either."""
        target = places.pieces(document.path)
        if target is None or (is_first and not answer.in_pieces):
            return None
        return _Pieces(target=target, there=await self.blobs.head(target) if look else None)

    async def _publish_pieces(self, pieces: "_Pieces", document: Document, answer: Answer) -> Answer:
        """The answer as it is to be told. It is written after them: what it names is there."""
        if not answer.in_pieces or answer.output is None:
            if pieces.there is not None:
                await self.blobs.delete(pieces.target, etag=pieces.there.etag)
            return answer
        lines = piece_lines(document, answer.output)
        await self._write(pieces.target, pieces.there, _blocks(lines), LINES)
        return replace(answer, parts=[{"path": pieces.target, "content_type": LINES}])

    async def _write(
        self, target: str, there: BlobInfo | None, content: AsyncIterator[bytes], content_type: str
    ) -> None:
        """Raise `Conflict` unless `there` is what lies there still."""
        await self.blobs.write(
            target,
            content,
            content_type=content_type,
            overwrite=there is not None,
            if_etag=there.etag if there is not None else None,
        )

    async def _stand(self, row: Stored[PathVersions], document: Document) -> bool:
        standing = row.value.standing
        if standing > document.version:
            return False
        if standing < document.version:
            await self.paths.replace(row, replace(row.value, standing=document.version))
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pieces:
    """`there` is what lay at `target` before the look at the versions."""

    target: str
    there: BlobInfo | None


async def _blocks(lines: Iterable[bytes]) -> AsyncIterator[bytes]:
    pause = Pause()
    for some in batched(lines, _AT_ONCE, strict=False):
        yield b"".join(some)
        await pause()

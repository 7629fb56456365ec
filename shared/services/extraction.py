"""The text of a blob, in flat memory: downloaded to a temporary file and read there."""

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from shared.domain.errors import Conflict, NotFound
from shared.domain.extraction import Extraction, Unreadable, UnreadableReason
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.extractor import Extractor

GONE: Final = "gone"


async def extract_blob(blobs: Blobs, extractor: Extractor, info: BlobInfo) -> Extraction | Judgement:
    """The text of the version that `info` names, or the outcome of a document without one.

    Raise `TryAgainLater` when it is not the document's fault.
    """
    limit = extractor.limits.max_source_bytes
    if info.size > limit:
        return unreadable(
            Unreadable(
                reason=UnreadableReason.TOO_LARGE,
                message=f"the document has {info.size:,} bytes; at most {limit:,} are read",
            )
        )
    with tempfile.TemporaryDirectory(prefix="postern-") as folder:
        target = Path(folder) / "document"
        try:
            await _download(blobs, info, target)
        except (NotFound, Conflict):
            return gone("the document was changed or deleted before it was read")
        name = info.path.rsplit("/", 1)[-1]
        answer = await extractor.extract(target, name=name, content_type=info.content_type)
    return unreadable(answer) if isinstance(answer, Unreadable) else answer


async def _download(blobs: Blobs, info: BlobInfo, target: Path) -> None:
    with target.open("wb") as file:
        async for piece in blobs.read(info.path, etag=info.etag):
            await asyncio.to_thread(file.write, piece)


def unreadable(answer: Unreadable) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=answer.reason.value, message=answer.message)


def gone(message: str) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=GONE, message=message)

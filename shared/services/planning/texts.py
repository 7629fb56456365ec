"""The texts that a template's names stand for: inline ones as they are, documents extracted."""

import asyncio
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.domain.errors import Conflict, NotFound
from shared.domain.extraction import Unreadable, UnreadableReason
from shared.domain.ids import TenantId
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.ports.blobs import BlobInfo, Blobs
from shared.ports.extractor import Extractor
from shared.wire.templates import BlobRef, Value, text_of

# Documents read side by side. Each costs a download, a temporary file and at most one reader.
SIDE_BY_SIDE: Final = 8
GONE: Final = Judgement(
    outcome=Outcome.FAILED,
    reason="gone",
    message="the document was changed or deleted after the job was accepted; submit it again",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """`etags` holds, by path, the version each document had when the job was accepted."""

    blobs: Blobs
    extractor: Extractor
    tenant: TenantId
    etags: Mapping[str, str]

    async def resolve(self, variables: Mapping[str, Value]) -> dict[str, str] | Judgement:
        """Every variable as text, or the outcome of a request whose document cannot be read."""
        texts: dict[str, str] = {}
        for name, value in variables.items():
            if not isinstance(value, BlobRef):
                texts[name] = text_of(value)
                continue
            text = await self._document(value)
            if isinstance(text, Judgement):
                return text
            texts[name] = text
        return texts

    async def _document(self, reference: BlobRef) -> str | Judgement:
        path = reference.place(self.tenant)
        try:
            info = await self.blobs.head(path)
            if info is None or info.etag != self.etags.get(reference.path):
                return GONE
            if info.size > self.extractor.limits.max_source_bytes:
                return _unreadable(_too_large(info, self.extractor.limits.max_source_bytes))
            with tempfile.TemporaryDirectory(prefix="postern-") as folder:
                return await self._extract(info, Path(folder) / "document")
        except (NotFound, Conflict):
            return GONE

    async def _extract(self, info: BlobInfo, target: Path) -> str | Judgement:
        with target.open("wb") as file:
            async for piece in self.blobs.read(info.path, etag=info.etag):
                await asyncio.to_thread(file.write, piece)
        name = info.path.rsplit("/", 1)[-1]
        answer = await self.extractor.extract(target, name=name, content_type=info.content_type)
        return _unreadable(answer) if isinstance(answer, Unreadable) else answer.text


def _too_large(info: BlobInfo, limit: int) -> Unreadable:
    return Unreadable(
        reason=UnreadableReason.TOO_LARGE,
        message=f"the document has {info.size:,} bytes; at most {limit:,} are read",
    )


def _unreadable(answer: Unreadable) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=answer.reason.value, message=answer.message)

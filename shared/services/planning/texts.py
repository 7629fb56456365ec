"""The texts that a template's names stand for: inline ones as they are, documents extracted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.ids import TenantId
from shared.domain.rows import Judgement
from shared.ports.blobs import Blobs
from shared.ports.extractor import Extractor
from shared.services.extraction import extract_blob, gone
from shared.wire.templates import BlobRef, Value, text_of

# Documents read side by side. Each costs a download, a temporary file and at most one reader.
SIDE_BY_SIDE: Final = 8
GONE: Final = gone("the document was changed or deleted after the job was accepted; submit it again")


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
        info = await self.blobs.head(reference.place(self.tenant))
        if info is None or info.etag != self.etags.get(reference.path):
            return GONE
        answer = await extract_blob(self.blobs, self.extractor, info)
        return answer if isinstance(answer, Judgement) else answer.text

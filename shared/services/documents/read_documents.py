"""Show documents: one by its id, or many, the newest first, of whoever's lists the caller may see."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from shared.domain.documents import Document
from shared.domain.errors import NotFound
from shared.domain.ids import TenantId
from shared.stores.documents import Documents, document_row
from shared.stores.stored import Stored

# None stands for the records that only operators see.
Owners = Sequence[TenantId | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """None: any."""

    status: str | None = None
    pipeline: str | None = None

    def matches(self, document: Document) -> bool:
        return self.status in (None, document.status.value) and self.pipeline in (None, document.pipeline)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocuments:
    documents: Documents

    async def one(self, owners: Owners, document: str) -> Stored[Document]:
        """Raise `NotFound`."""
        for owner in owners:
            if (found := await self.documents.find(owner, document)) is not None:
                return found
        raise NotFound(f"no document {document[:80]!r}")

    async def page(
        self, owners: Owners, wanted: DocumentFilter, *, limit: int, after: str | None
    ) -> tuple[list[Document], bool]:
        """The newest `limit` documents that match, after the one with the id `after`; whether there are more."""
        found: list[Document] = []
        async for document in self._merged(owners, after):
            if wanted.matches(document):
                if len(found) == limit:
                    return found, True
                found.append(document)
        return found, False

    async def _merged(self, owners: Owners, after: str | None) -> AsyncIterator[Document]:
        """Several lists as one, each read only as far as it is needed."""
        lists = [self.documents.newest_first(owner, after=after) for owner in owners]
        heads = {n: document for n, each in enumerate(lists) if (document := await anext(each, None))}
        while heads:
            n, newest = min(heads.items(), key=lambda item: document_row(item[1].id) or "")
            yield newest
            following = await anext(lists[n], None)
            if following is None:
                del heads[n]
            else:
                heads[n] = following

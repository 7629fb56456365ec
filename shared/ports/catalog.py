"""The catalogue in force."""

from typing import Protocol

from shared.domain.catalog import Catalog


class CatalogSource(Protocol):
    async def current(self) -> Catalog:
        """The newest good catalogue. Raise `TryAgainLater` if there has never been a good one."""
        ...

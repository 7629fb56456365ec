"""Whether the parts that every job needs can be reached."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from shared.domain.errors import PosternError
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.tables import Tables
from shared.wire.paths import JOBS


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`document` says of each part `ok` or that it fails, never why: anybody may ask."""

    status: int
    document: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckHealth:
    tables: Tables
    blobs: Blobs
    catalog: CatalogSource

    async def __call__(self) -> Health:
        checks = {
            "catalogue": await _works(self.catalog.current()),
            "tables": await _works(self.tables.get("jobs", "readyz", "readyz")),
            "blobs": await _works(self.blobs.head(f"{JOBS}/readyz")),
        }
        ready = all(checks.values())
        return Health(
            status=200 if ready else 503,
            document={
                "status": "ready" if ready else "not ready",
                "checks": {name: "ok" if works else "failing" for name, works in checks.items()},
            },
        )


async def _works(check: Awaitable[object]) -> bool:
    try:
        await check
    except PosternError:
        return False
    return True

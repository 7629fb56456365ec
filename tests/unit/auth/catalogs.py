"""Tenants who may call."""

import hashlib
from collections.abc import Mapping

from shared.domain.catalog import Catalog, Tenant
from shared.domain.ids import TenantId

APP, USER, ADMIN_APP = "11111111-aaaa", "22222222-bbbb", "33333333-cccc"
SUPPORT_KEY, ADMIN_KEY = "support-key", "key.with.dots"


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


SUPPORT = Tenant(
    id=TenantId("support"),
    keys=frozenset({digest(SUPPORT_KEY), digest("second-key")}),
    principals=frozenset({APP}),
)
OPERATORS = Tenant(
    id=TenantId("operators"),
    keys=frozenset({digest(ADMIN_KEY)}),
    principals=frozenset({ADMIN_APP, USER}),
    admin=True,
)


class Fixed:
    """A catalogue that never changes."""

    def __init__(self, *tenants: Tenant) -> None:
        by_id: Mapping[TenantId, Tenant] = {tenant.id: tenant for tenant in tenants}
        self._catalog = Catalog(tenants=by_id, deployments={}, aliases={})

    async def current(self) -> Catalog:
        return self._catalog

"""From a request's headers to the tenant who is calling. Knows no HTTP library."""

import hashlib
from collections.abc import Mapping
from typing import Final

from shared.domain.catalog import Catalog, Tenant
from shared.domain.errors import Unauthenticated
from shared.ports.catalog import CatalogSource
from shared.ports.identity import TokenVerifier

MAX_CREDENTIAL: Final = 4096
_HEADERS: Final = ("authorization", "api-key", "x-api-key")
_HOW: Final = "send 'Authorization: Bearer KEY', 'api-key: KEY' or 'x-api-key: KEY'"


class Authenticate:
    """Without `tokens` only keys are accepted."""

    def __init__(self, *, catalog: CatalogSource, tokens: TokenVerifier | None = None) -> None:
        self._catalog = catalog
        self._tokens = tokens

    async def __call__(self, headers: Mapping[str, str]) -> Tenant:
        """The tenant. Raise `Unauthenticated`, whose text is safe to send, or `TryAgainLater`.

        Header names count whatever their case. One credential, or the same one twice; two are no credential.
        """
        credential, bearer = _credential(headers)
        catalog = await self._catalog.current()
        # A look-up by digest: its timing tells about digests, and nothing about keys.
        digest = hashlib.sha256(credential.encode("ascii")).hexdigest()
        if tenant := catalog.tenant_of_key(digest):
            return tenant
        if bearer and self._tokens is not None and _looks_like_a_token(credential):
            return await self._holder(self._tokens, credential, catalog)
        raise Unauthenticated("the key is not known; ask the operators of Postern for one")

    @staticmethod
    async def _holder(tokens: TokenVerifier, token: str, catalog: Catalog) -> Tenant:
        principal = await tokens.verify(token)
        tenant = catalog.tenant_of_principal(*principal.ids)
        if tenant is None:
            ids = ", ".join(principal.ids)
            raise Unauthenticated(f"the catalogue maps the token's ids ({ids}) to no tenant, or to several")
        return tenant


def _credential(headers: Mapping[str, str]) -> tuple[str, bool]:
    """The one credential, and whether it came as a bearer."""
    given = [(name.lower(), value) for name, value in headers.items() if name.lower() in _HEADERS]
    if not given:
        raise Unauthenticated(f"no credentials; {_HOW}")
    found = {_bare(name, value): name for name, value in given}
    if len(found) > 1:
        raise Unauthenticated("two different credentials in one request; send one")
    bearer = any(name == "authorization" for name, _ in given)
    return next(iter(found)), bearer


def _bare(name: str, value: str) -> str:
    """The key or token in a header."""
    if len(value) > MAX_CREDENTIAL:
        raise Unauthenticated(f"the header {name!r} is longer than {MAX_CREDENTIAL} characters")
    bare = value.strip(" \t")
    if name == "authorization":
        scheme, _, bare = bare.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated(f"the header 'authorization' is not of the form 'Bearer KEY'; {_HOW}")
        bare = bare.strip(" \t")
    if not bare:
        raise Unauthenticated(f"the header {name!r} holds no key; {_HOW}")
    if not (bare.isascii() and bare.isprintable() and " " not in bare):
        raise Unauthenticated(f"the header {name!r} holds characters that no key has")
    return bare


def _looks_like_a_token(credential: str) -> bool:
    """Three parts, the first a JSON object in base64."""
    return credential.count(".") == 2 and credential.startswith("eyJ")

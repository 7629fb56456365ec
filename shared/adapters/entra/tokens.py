"""Microsoft Entra access tokens, checked in code. No sentence of the library's reaches a caller."""

from datetime import timedelta
from typing import Final

import jwt

from shared.adapters.entra.signing_keys import SigningKeys
from shared.domain.errors import Unauthenticated
from shared.ports.clock import Clock
from shared.ports.identity import Principal

_ALGORITHM: Final = "RS256"
_CLOCK_SKEW: Final = timedelta(seconds=60)
# Application id in tokens of version 1 and 2, then the object id of the user or service principal.
_ID_CLAIMS: Final = ("appid", "azp", "oid")
_REASONS: Final = (
    (jwt.ExpiredSignatureError, "the token has expired; get a new one"),
    (jwt.ImmatureSignatureError, "the token is not valid yet; compare the clocks"),
    (jwt.InvalidAudienceError, "the token is for another audience"),
    (jwt.InvalidIssuerError, "the token is from another issuer"),
    (jwt.MissingRequiredClaimError, "the token lacks its issuer, audience or expiry"),
    (jwt.InvalidSignatureError, "the token's signature is wrong"),
)


class EntraTokens:
    """A `TokenVerifier`. One per process; `close` it at the end."""

    def __init__(self, *, issuer: str, audience: str, jwks_url: str | None = None, clock: Clock) -> None:
        self._issuer = issuer
        self._audience = audience
        self._keys = SigningKeys(issuer=issuer, jwks_url=jwks_url, clock=clock)

    async def verify(self, token: str) -> Principal:
        key = await self._keys.key(_key_id(token))
        claims = self._claims(token, key)
        ids = [claim.lower() for name in _ID_CLAIMS if isinstance(claim := claims.get(name), str) and claim]
        if not ids:
            raise Unauthenticated("the token names no application and no object id")
        return Principal(ids=tuple(dict.fromkeys(ids)))

    async def close(self) -> None:
        await self._keys.close()

    def _claims(self, token: str, key: jwt.PyJWK) -> dict[str, object]:
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                audience=self._audience,
                issuer=self._issuer,
                leeway=_CLOCK_SKEW,
                options={"require": ["iss", "aud", "exp"]},
            )
        except jwt.PyJWTError as error:
            known = (reason for kind, reason in _REASONS if isinstance(error, kind))
            raise Unauthenticated(next(known, "the token is malformed")) from None


def _key_id(token: str) -> str:
    """The key the token says it is signed with. Nothing of it may be believed yet."""
    try:
        header = jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        raise Unauthenticated("the token is malformed") from None
    key_id = header.get("kid")
    if header.get("alg") != _ALGORITHM or not isinstance(key_id, str):
        raise Unauthenticated(f"the token is not signed with {_ALGORITHM} and a named key")
    return key_id

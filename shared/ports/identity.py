"""Who holds a token."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Application and object ids, lower-case, as the issuer has signed them."""

    ids: tuple[str, ...]


class TokenVerifier(Protocol):
    async def verify(self, token: str) -> Principal:
        """Who the token was issued to, after signature, issuer, audience and times were checked.

        Raise `Unauthenticated` if any of it is wrong, and `TryAgainLater` if the issuer's keys cannot be had.
        No text of an error holds any part of the token.
        """
        ...

"""The issuer's public keys, fetched when needed and kept."""

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import aiohttp
from jwt import PyJWK, PyJWTError

from shared.domain.errors import TryAgainLater, Unauthenticated
from shared.ports.clock import Clock
from shared.settings import is_safe_url

log = logging.getLogger(__name__)

FRESH_FOR: Final = timedelta(hours=24)
# An unknown key id may be a new key, or anybody's invention: it must not make us call the issuer at will.
BETWEEN_FETCHES: Final = timedelta(seconds=60)
BETWEEN_FIRST_FETCHES: Final = timedelta(seconds=5)
_MAX_BYTES: Final = 256 * 1024
_TIMEOUT: Final = aiohttp.ClientTimeout(total=5)


class SigningKeys:
    """RSA keys by their id. Keys that could not be renewed stay valid."""

    def __init__(self, *, issuer: str, jwks_url: str | None, clock: Clock) -> None:
        self._issuer = issuer
        self._jwks_url = jwks_url
        self._clock = clock
        self._keys: Mapping[str, PyJWK] | None = None
        self._fetched_at: datetime | None = None
        self._tried_at: datetime | None = None
        self._fetching = asyncio.Lock()
        self._session: aiohttp.ClientSession | None = None

    async def key(self, key_id: str) -> PyJWK:
        """Raise `Unauthenticated` if the issuer has no such key, `TryAgainLater` if it cannot be asked."""
        if not self._knows(key_id) or self._is_stale():
            async with self._fetching:
                if (not self._knows(key_id) or self._is_stale()) and self._may_fetch():
                    await self._fetch()
        if self._keys is None:
            raise TryAgainLater(
                "the signing keys of the token's issuer cannot be had; tokens cannot be checked"
            )
        if key_id not in self._keys:
            raise Unauthenticated("the token is signed with a key that its issuer does not publish")
        return self._keys[key_id]

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _knows(self, key_id: str) -> bool:
        return self._keys is not None and key_id in self._keys

    def _is_stale(self) -> bool:
        return self._fetched_at is None or self._clock.now() - self._fetched_at >= FRESH_FOR

    def _may_fetch(self) -> bool:
        pause = BETWEEN_FIRST_FETCHES if self._keys is None else BETWEEN_FETCHES
        return self._tried_at is None or abs(self._clock.now() - self._tried_at) >= pause

    async def _fetch(self) -> None:
        self._tried_at = self._clock.now()
        try:
            url = self._jwks_url or await self._discover()
            self._keys = _read_keys(await self._get(url))
            self._fetched_at = self._clock.now()
            log.info("entra.keys_fetched", extra={"keys": len(self._keys)})
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            log.warning(
                "entra.keys_unavailable", extra={"issuer": self._issuer, "reason": type(error).__name__}
            )

    async def _discover(self) -> str:
        document = await self._get(self._issuer.rstrip("/") + "/.well-known/openid-configuration")
        url = document.get("jwks_uri")
        if document.get("issuer") != self._issuer or not isinstance(url, str) or not is_safe_url(url):
            raise ValueError("the discovery document names another issuer, or no usable keys")
        return url

    async def _get(self, url: str) -> Mapping[str, object]:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=_TIMEOUT, cookie_jar=aiohttp.DummyCookieJar())
        async with self._session.get(url, allow_redirects=False) as response:
            if response.status != 200:
                raise ValueError(f"status {response.status}")
            content = bytearray()
            async for piece in response.content.iter_chunked(64 * 1024):
                content += piece
                if len(content) > _MAX_BYTES:
                    raise ValueError("answer too large")
        document = json.loads(content)
        if not isinstance(document, dict):
            raise ValueError("not a JSON object")  # noqa: TRY004 - an answer of the wrong shape, not our type
        return document


def _read_keys(document: Mapping[str, object]) -> Mapping[str, PyJWK]:
    """The RSA signing keys; whatever else there is is passed over. `ValueError` if there are none."""
    written = document.get("keys")
    keys: dict[str, PyJWK] = {}
    for entry in written if isinstance(written, list) else []:
        if isinstance(entry, dict) and entry.get("kty") == "RSA" and entry.get("use", "sig") == "sig":
            key_id = entry.get("kid")
            try:
                if isinstance(key_id, str):
                    keys[key_id] = PyJWK(entry, algorithm="RS256")
            except PyJWTError:
                log.warning("entra.key_unusable")
    if not keys:
        raise ValueError("no usable key")
    return keys

"""An issuer of tokens on loopback: real RSA keys, a discovery document, a key set."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from jwt.algorithms import RSAAlgorithm

AUDIENCE = "api://postern"


@cache
def private_key(name: str) -> RSAPrivateKey:
    """One key a name; made once, because making it is slow."""
    return generate_private_key(public_exponent=65537, key_size=2048)


class Issuer:
    """Publishes the keys in `published`, answers with `status`, and counts what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.published = ["first"]
        self.extra: list[dict[str, Any]] = []
        self.status = 200
        self.named: str | None = None
        self.asked: list[str] = []
        self._runner: web.AppRunner | None = None

    @property
    def jwks_url(self) -> str:
        return f"{self.url}/keys"

    async def start(self) -> None:
        app = web.Application()
        app.router.add_get("/v2.0/.well-known/openid-configuration", self._discovery)
        app.router.add_get("/v2.0/keys", self._keys)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v2.0"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def token(self, *, key: str = "first", headers: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """A token of this issuer; a claim given as None is left out."""
        now = datetime.now(UTC)
        all_claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "exp": now + timedelta(minutes=5),
            "nbf": now - timedelta(minutes=1),
            "iat": now - timedelta(minutes=1),
            "sub": "subject",
        } | claims
        kept = {name: claim for name, claim in all_claims.items() if claim is not None}
        return jwt.encode(kept, private_key(key), "RS256", headers={"kid": key} | dict(headers or {}))

    async def _discovery(self, request: web.Request) -> web.Response:
        self.asked.append("discovery")
        return web.json_response(
            {"issuer": self.named or self.url, "jwks_uri": self.jwks_url}, status=self.status
        )

    async def _keys(self, request: web.Request) -> web.Response:
        self.asked.append("keys")
        keys = [
            RSAAlgorithm.to_jwk(private_key(name).public_key(), as_dict=True) | {"kid": name, "use": "sig"}
            for name in self.published
        ]
        return web.json_response({"keys": [*self.extra, *keys]}, status=self.status)

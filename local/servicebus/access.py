"""Shared access signatures: who holds which right on which path. Entra tokens are not for loopback."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_plus, urlsplit

from local.servicebus.definitions import Policy, Right
from local.servicebus.errors import unauthorized

SCHEME = "SharedAccessSignature "


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`path` and everything below it, until `expires_at` (seconds since 1970 UTC)."""

    path: str
    policy: Policy
    expires_at: int

    def covers(self, path: str) -> bool:
        return self.path in {"", path} or path.startswith(self.path + "/")


class Claims:
    """What one connection has proved so far."""

    def __init__(self) -> None:
        self._claims: list[Claim] = []

    def add(self, claim: Claim) -> None:
        self._claims = [held for held in self._claims if held.path != claim.path] + [claim]

    def require(self, right: Right, path: str, now: float) -> None:
        """`Refused` says which right is missing where."""
        path = entity_path(path)
        held = [claim for claim in self._claims if claim.covers(path) and claim.expires_at > now]
        if not any(claim.policy.allows(right) for claim in held):
            raise unauthorized(f"Unauthorized access. {right.value!r} claim(s) are required on {path!r}.")


def entity_path(address: str) -> str:
    """`sb://host:1/Queue/` and `queue` are the same place."""
    path = urlsplit(address).path if "://" in address else address
    return path.strip("/").lower()


def read_token(token: str, audience: str, policies: Mapping[str, Policy], now: float) -> Claim:
    """The claim on `audience` that the token proves; `Refused` for a bad, expired or foreign one."""
    fields = dict(part.partition("=")[::2] for part in token.removeprefix(SCHEME).split("&"))
    policy = policies.get(unquote_plus(fields.get("skn", "")))
    if not token.startswith(SCHEME) or policy is None or not _is_signed(fields, policy):
        raise unauthorized("InvalidSignature: The token has an invalid signature.")
    expires_at = int(fields["se"])
    if expires_at <= now:
        raise unauthorized("ExpiredToken: The token is expired.")
    granted = Claim(path=entity_path(unquote_plus(fields["sr"])), policy=policy, expires_at=expires_at)
    if not granted.covers(entity_path(audience)):
        raise unauthorized("InvalidAudience: The token is for another entity.")
    return Claim(path=entity_path(audience), policy=policy, expires_at=expires_at)


def _is_signed(fields: Mapping[str, str], policy: Policy) -> bool:
    if not {"sr", "se", "sig"} <= fields.keys() or not fields["se"].isdecimal():
        return False
    # Signed is the resource as it stands in the token, however the client chose to quote it.
    signed = f"{fields['sr']}\n{fields['se']}".encode()
    expected = base64.b64encode(hmac.digest(policy.key.encode(), signed, hashlib.sha256))
    return hmac.compare_digest(expected, unquote_plus(fields["sig"].replace("+", "%2B")).encode())

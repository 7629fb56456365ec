"""Entra tokens, against a real issuer on loopback."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import RSAAlgorithm

from shared.adapters.entra.tokens import EntraTokens
from shared.adapters.memory.clock import FixedClock
from shared.domain.errors import TryAgainLater, Unauthenticated
from shared.ports.identity import TokenVerifier
from shared.services.authenticate import Authenticate
from tests.unit.auth.catalogs import APP, OPERATORS, SUPPORT, USER, Fixed
from tests.unit.auth.issuer import AUDIENCE, Issuer, private_key


@pytest_asyncio.fixture
async def issuer() -> AsyncIterator[Issuer]:
    issuer = Issuer()
    await issuer.start()
    yield issuer
    await issuer.stop()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 11, 30, tzinfo=UTC))


@pytest_asyncio.fixture
async def tokens(issuer: Issuer, clock: FixedClock) -> AsyncIterator[TokenVerifier]:
    tokens = EntraTokens(issuer=issuer.url, audience=AUDIENCE, clock=clock)
    yield tokens
    await tokens.close()


def encoded(part: object) -> str:
    text = part if isinstance(part, str) else json.dumps(part)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    ("claims", "ids"),
    [
        ({"appid": APP.upper(), "oid": "o-1"}, (APP, "o-1")),
        ({"azp": APP, "oid": APP}, (APP,)),
        ({"oid": USER}, (USER,)),
        ({"azp": APP, "oid": 7, "appid": ""}, (APP,)),
    ],
)
async def test_a_good_token_tells_application_and_object_ids(
    issuer: Issuer, tokens: TokenVerifier, claims: dict[str, Any], ids: tuple[str, ...]
) -> None:
    assert (await tokens.verify(issuer.token(**claims))).ids == ids


async def test_a_good_token_is_a_tenant_from_headers_to_catalogue(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    authenticate = Authenticate(catalog=Fixed(SUPPORT, OPERATORS), tokens=tokens)

    assert await authenticate({"Authorization": f"Bearer {issuer.token(azp=APP)}"}) == SUPPORT
    assert await authenticate({"Authorization": f"Bearer {issuer.token(oid=USER)}"}) == OPERATORS


NOW = datetime.now(UTC)


@pytest.mark.parametrize(
    ("claims", "complaint"),
    [
        ({"exp": NOW - timedelta(minutes=2)}, "the token has expired; get a new one"),
        ({"nbf": NOW + timedelta(minutes=30)}, "the token is not valid yet; compare the clocks"),
        ({"aud": "api://another"}, "the token is for another audience"),
        ({"aud": ["a", "b"]}, "the token is for another audience"),
        ({"iss": "https://evil.example.com"}, "the token is from another issuer"),
        ({"iss": None}, "the token lacks its issuer, audience or expiry"),
        ({"aud": None}, "the token lacks its issuer, audience or expiry"),
        ({"exp": None}, "the token lacks its issuer, audience or expiry"),
        ({"exp": "soon"}, "the token is malformed"),
        ({"appid": None}, "the token names no application and no object id"),
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused(
    issuer: Issuer, tokens: TokenVerifier, claims: dict[str, Any], complaint: str
) -> None:
    token = issuer.token(**({"appid": APP} | claims))

    with pytest.raises(Unauthenticated) as caught:
        await tokens.verify(token)

    assert str(caught.value) == complaint


async def test_clocks_may_differ_by_a_minute(issuer: Issuer, tokens: TokenVerifier) -> None:
    now = datetime.now(UTC)

    await tokens.verify(issuer.token(appid=APP, exp=now - timedelta(seconds=30)))
    await tokens.verify(issuer.token(appid=APP, nbf=now + timedelta(seconds=30)))


async def test_a_signature_of_another_key_is_refused(issuer: Issuer, tokens: TokenVerifier) -> None:
    token = issuer.token(key="stolen", headers={"kid": "first"}, appid=APP)

    with pytest.raises(Unauthenticated, match="signature is wrong"):
        await tokens.verify(token)


async def test_a_changed_claim_breaks_the_signature(issuer: Issuer, tokens: TokenVerifier) -> None:
    header, _, signature = issuer.token(appid=APP).split(".")
    claims = {"iss": issuer.url, "aud": AUDIENCE, "exp": 2_000_000_000, "appid": "someone-else"}

    with pytest.raises(Unauthenticated, match="signature is wrong"):
        await tokens.verify(f"{header}.{encoded(claims)}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "HS256", "PS256", "RS512", "rs256", ["RS256"], None, 7])
async def test_only_rs256_is_accepted(issuer: Issuer, tokens: TokenVerifier, algorithm: object) -> None:
    _, claims, signature = issuer.token(appid=APP).split(".")
    header = {"typ": "JWT", "kid": "first", "alg": algorithm}

    with pytest.raises(Unauthenticated):
        await tokens.verify(f"{encoded(header)}.{claims}.{signature}")
    assert issuer.asked == []


async def test_the_public_key_is_no_shared_secret(issuer: Issuer, tokens: TokenVerifier) -> None:
    import hashlib
    import hmac

    public = private_key("first").public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = f"{encoded({'alg': 'HS256', 'kid': 'first'})}.{issuer.token(appid=APP).split('.')[1]}"
    signature = hmac.new(public, signed.encode(), hashlib.sha256).digest()

    with pytest.raises(Unauthenticated):
        await tokens.verify(f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}")


@pytest.mark.parametrize(
    "token",
    [
        "eyJ.a.b",
        "eyJ..",
        "..",
        "eyJhbGciOiJSUzI1NiJ9.e30.",
        f"{encoded('[' * 2900)}.e30.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'first', 'crit': ['x']})}.e30.AA",
        f"{encoded({'alg': 'RS256', 'kid': 7})}.e30.AA",
        f"{encoded({'alg': 'RS256', 'kid': ['first']})}.e30.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'first', 'b64': False})}.e30.AA",
        f"{encoded('[]')}.e30.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'first'})}.{encoded('[' * 2000)}.AA",
        f"{encoded({'alg': 'RS256', 'kid': 'first'})}.e30.{'A' * 1000}",
    ],
)
async def test_what_is_no_token_is_refused_and_nothing_of_it_repeated(
    tokens: TokenVerifier, token: str
) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await tokens.verify(token)

    assert str(caught.value).startswith("the token")
    assert token[:10] not in str(caught.value)


async def test_a_signed_oddity_is_refused_too(tokens: TokenVerifier) -> None:
    for payload in (b"[1]", b"nothing", b'{"exp": 1e999}', b"[" * 100_000):
        token = jwt.PyJWS().encode(payload, private_key("first"), "RS256", headers={"kid": "first"})

        with pytest.raises(Unauthenticated):
            await tokens.verify(token)


async def test_keys_are_fetched_once_and_discovered_first(
    issuer: Issuer, tokens: TokenVerifier, clock: FixedClock
) -> None:
    await asyncio.gather(*(tokens.verify(issuer.token(appid=APP)) for _ in range(20)))
    clock.advance(timedelta(hours=23))
    await tokens.verify(issuer.token(appid=APP))

    assert issuer.asked == ["discovery", "keys"]


async def test_a_given_key_url_needs_no_discovery(issuer: Issuer, clock: FixedClock) -> None:
    tokens = EntraTokens(issuer=issuer.url, audience=AUDIENCE, jwks_url=issuer.jwks_url, clock=clock)

    await tokens.verify(issuer.token(appid=APP))
    await tokens.close()

    assert issuer.asked == ["keys"]


async def test_a_new_key_is_fetched_when_it_is_first_seen(
    issuer: Issuer, tokens: TokenVerifier, clock: FixedClock
) -> None:
    await tokens.verify(issuer.token(appid=APP))

    issuer.published = ["second"]
    clock.advance(timedelta(minutes=1))
    await tokens.verify(issuer.token(key="second", appid=APP))

    with pytest.raises(Unauthenticated, match="does not publish"):
        await tokens.verify(issuer.token(appid=APP))


async def test_invented_keys_do_not_make_us_call_the_issuer_more_than_once_a_minute(
    issuer: Issuer, tokens: TokenVerifier, clock: FixedClock
) -> None:
    await tokens.verify(issuer.token(appid=APP))
    asked = len(issuer.asked)

    for second in range(120):
        clock.advance(timedelta(seconds=1))
        with pytest.raises(Unauthenticated, match="does not publish"):
            await tokens.verify(issuer.token(appid=APP, headers={"kid": f"invented-{second}"}))

    assert len(issuer.asked) - asked == 2 * 2


async def test_keys_are_fetched_anew_after_a_day_and_kept_if_that_fails(
    issuer: Issuer, tokens: TokenVerifier, clock: FixedClock
) -> None:
    await tokens.verify(issuer.token(appid=APP))

    issuer.status = 503
    clock.advance(timedelta(days=1))
    await tokens.verify(issuer.token(appid=APP))
    await tokens.verify(issuer.token(appid=APP))
    assert issuer.asked == ["discovery", "keys", "discovery"]

    issuer.status = 200
    clock.advance(timedelta(minutes=1))
    await tokens.verify(issuer.token(appid=APP))
    assert issuer.asked == ["discovery", "keys", "discovery", "discovery", "keys"]


async def test_without_any_key_the_caller_is_asked_to_come_back(
    issuer: Issuer, tokens: TokenVerifier, clock: FixedClock
) -> None:
    issuer.status = 500
    for _ in range(3):
        with pytest.raises(TryAgainLater, match="signing keys"):
            await tokens.verify(issuer.token(appid=APP))
    assert issuer.asked == ["discovery"]

    issuer.status = 200
    clock.advance(timedelta(seconds=5))
    await tokens.verify(issuer.token(appid=APP))


async def test_an_issuer_that_is_down_asks_the_caller_to_come_back(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    token = issuer.token(appid=APP)
    await issuer.stop()

    with pytest.raises(TryAgainLater, match="signing keys"):
        await tokens.verify(token)


async def test_a_discovery_document_of_another_issuer_is_not_believed(
    issuer: Issuer, tokens: TokenVerifier
) -> None:
    issuer.named = "https://evil.example.com"

    with pytest.raises(TryAgainLater, match="signing keys"):
        await tokens.verify(issuer.token(appid=APP))


async def test_keys_of_other_kinds_are_passed_over(issuer: Issuer, tokens: TokenVerifier) -> None:
    public = RSAAlgorithm.to_jwk(private_key("first").public_key(), as_dict=True)
    issuer.extra = [
        {"kty": "EC", "kid": "curve", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "oct", "kid": "secret", "k": "AAAA"},
        {"kty": "RSA", "kid": "broken", "n": "!", "e": "AQAB"},
        public | {"kid": "for-encryption", "use": "enc"},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    ]

    await tokens.verify(issuer.token(appid=APP))
    for name in ("curve", "secret", "for-encryption"):
        with pytest.raises(Unauthenticated, match="does not publish"):
            await tokens.verify(issuer.token(appid=APP, headers={"kid": name}))

"""Who is calling, by key."""

import pytest

from shared.domain.catalog import Tenant
from shared.domain.errors import TryAgainLater, Unauthenticated
from shared.ports.identity import Principal
from shared.services.authenticate import Authenticate
from tests.unit.auth.catalogs import ADMIN_KEY, OPERATORS, SUPPORT, SUPPORT_KEY, Fixed


async def caller(headers: dict[str, str]) -> Tenant:
    return await Authenticate(catalog=Fixed(SUPPORT, OPERATORS))(headers)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {SUPPORT_KEY}"},
        {"authorization": f"bearer {SUPPORT_KEY}"},
        {"AUTHORIZATION": f"  BEARER   {SUPPORT_KEY}\t"},
        {"api-key": SUPPORT_KEY},
        {"Api-Key": f" {SUPPORT_KEY} "},
        {"x-api-key": SUPPORT_KEY},
        {"x-api-key": "second-key"},
        {"x-api-key": SUPPORT_KEY, "api-key": SUPPORT_KEY, "Authorization": f"Bearer {SUPPORT_KEY}"},
        {"x-api-key": SUPPORT_KEY, "x-tenant-id": "operators", "Content-Type": "application/json"},
    ],
)
async def test_a_key_is_taken_from_each_of_the_three_headers(headers: dict[str, str]) -> None:
    assert await caller(headers) == SUPPORT


async def test_a_key_may_look_a_little_like_a_token() -> None:
    assert await caller({"Authorization": f"Bearer {ADMIN_KEY}"}) == OPERATORS


@pytest.mark.parametrize(
    ("headers", "complaint"),
    [
        ({}, "no credentials; send 'Authorization: Bearer KEY', 'api-key: KEY' or 'x-api-key: KEY'"),
        ({"x-tenant-id": "support"}, "no credentials;"),
        ({"api-key": "hunter2"}, "the key is not known"),
        ({"Authorization": "Bearer hunter2"}, "the key is not known"),
        ({"Authorization": "Bearer eyJhunter2.hunter2.hunter2"}, "the key is not known"),
        ({"api-key": ""}, "the header 'api-key' holds no key"),
        ({"x-api-key": " \t "}, "the header 'x-api-key' holds no key"),
        ({"Authorization": ""}, "the header 'authorization' is not of the form 'Bearer KEY'"),
        ({"Authorization": "Bearer"}, "the header 'authorization' holds no key"),
        ({"Authorization": "Bearer  "}, "the header 'authorization' holds no key"),
        ({"Authorization": "Basic hunter2"}, "the header 'authorization' is not of the form 'Bearer KEY'"),
        ({"Authorization": SUPPORT_KEY}, "the header 'authorization' is not of the form 'Bearer KEY'"),
        ({"api-key": f"{SUPPORT_KEY} hunter2"}, "the header 'api-key' holds characters that no key has"),
        ({"api-key": "hunter2\x00"}, "the header 'api-key' holds characters that no key has"),
        ({"api-key": "hunter2\x7f"}, "the header 'api-key' holds characters that no key has"),
        ({"api-key": "hünter2"}, "the header 'api-key' holds characters that no key has"),
        (
            {"Authorization": "Bearer hunter2\u2028"},
            "the header 'authorization' holds characters that no key has",
        ),
        ({"api-key": "hunter2" * 1000}, "the header 'api-key' is longer than 4096 characters"),
        (
            {"Authorization": "Bearer " + "h" * 5000},
            "the header 'authorization' is longer than 4096 characters",
        ),
        (
            {"api-key": SUPPORT_KEY, "x-api-key": "hunter2"},
            "two different credentials in one request; send one",
        ),
        (
            {"api-key": SUPPORT_KEY, "Authorization": f"Bearer {ADMIN_KEY}"},
            "two different credentials in one request; send one",
        ),
    ],
)
async def test_what_is_no_key_of_ours_is_refused_without_repeating_it(
    headers: dict[str, str], complaint: str
) -> None:
    with pytest.raises(Unauthenticated) as caught:
        await caller(headers)

    assert str(caught.value).startswith(complaint)
    assert "hunter2" not in str(caught.value)
    assert SUPPORT_KEY not in str(caught.value)


async def test_one_header_sent_twice_with_different_keys_is_refused() -> None:
    from starlette.datastructures import Headers

    twice = Headers(raw=[(b"api-key", SUPPORT_KEY.encode()), (b"api-key", b"hunter2")])

    with pytest.raises(Unauthenticated, match="two different credentials"):
        await Authenticate(catalog=Fixed(SUPPORT))(twice)


async def test_without_a_catalogue_the_caller_is_asked_to_come_back() -> None:
    class Nothing:
        async def current(self) -> None:
            raise TryAgainLater("there is no good catalogue yet")

    with pytest.raises(TryAgainLater):
        await Authenticate(catalog=Nothing())({"api-key": SUPPORT_KEY})  # type: ignore[arg-type]


async def test_a_bad_credential_is_refused_before_anything_else_is_asked() -> None:
    class Nothing:
        async def current(self) -> None:
            raise AssertionError("the catalogue was asked")

    with pytest.raises(Unauthenticated):
        await Authenticate(catalog=Nothing())({"api-key": ""})  # type: ignore[arg-type]


class Tokens:
    """Knows every token to belong to these ids."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids
        self.seen: list[str] = []

    async def verify(self, token: str) -> Principal:
        self.seen.append(token)
        return Principal(ids=self._ids)


@pytest.mark.parametrize(
    ("ids", "tenant"),
    [(("11111111-aaaa",), SUPPORT), (("unknown", "11111111-aaaa"), SUPPORT), (("33333333-cccc",), OPERATORS)],
)
async def test_the_ids_of_a_token_lead_to_one_tenant(ids: tuple[str, ...], tenant: Tenant) -> None:
    authenticate = Authenticate(catalog=Fixed(SUPPORT, OPERATORS), tokens=Tokens(*ids))

    assert await authenticate({"Authorization": "Bearer eyJ.a.b"}) == tenant


@pytest.mark.parametrize("ids", [("unknown",), ("11111111-aaaa", "22222222-bbbb")])
async def test_ids_of_no_tenant_or_of_two_are_refused_and_named(ids: tuple[str, ...]) -> None:
    authenticate = Authenticate(catalog=Fixed(SUPPORT, OPERATORS), tokens=Tokens(*ids))

    with pytest.raises(Unauthenticated, match=", ".join(ids)):
        await authenticate({"Authorization": "Bearer eyJ.a.b"})


@pytest.mark.parametrize(
    "headers",
    [
        {"api-key": "eyJ.a.b"},
        {"Authorization": "Bearer eyJ.a"},
        {"Authorization": "Bearer eyJ.a.b.c"},
        {"Authorization": "Bearer abc.a.b"},
    ],
)
async def test_only_a_bearer_in_three_parts_is_taken_for_a_token(headers: dict[str, str]) -> None:
    tokens = Tokens("11111111-aaaa")

    with pytest.raises(Unauthenticated):
        await Authenticate(catalog=Fixed(SUPPORT), tokens=tokens)(headers)

    assert tokens.seen == []

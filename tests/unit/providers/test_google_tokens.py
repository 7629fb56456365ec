"""Where tokens for Google come from: a real token service on loopback, google-auth against it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from shared.adapters.azure.clock import SystemClock
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.google.tokens import GoogleTokens
from shared.domain.catalog import Deployment
from shared.domain.errors import NotAdmitted, TryAgainLater
from shared.domain.ids import DeploymentName

METADATA = (
    "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=api://postern"
)


@dataclass
class TokenService:
    """Google's, as far as an exchange needs it. `asked` has what was sent."""

    url: str
    asked: list[dict[str, str]] = field(default_factory=list)
    status: int = 200

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append({name: str(value) for name, value in (await request.post()).items()})
        if self.status != 200:
            return web.json_response(
                {"error": "invalid_grant", "error_description": "s3cret"}, status=self.status
            )
        token = {"access_token": f"ya29.{len(self.asked)}", "expires_in": 3600, "token_type": "Bearer"}
        kind = "urn:ietf:params:oauth:token-type:access_token"
        return web.json_response({**token, "issued_token_type": kind})

    def federation(self, source: dict[str, Any]) -> str:
        """As `gcloud iam workload-identity-pools create-cred-config` writes it, but for the pool.

        With a project in it google-auth would look for that at Google's.
        """
        return json.dumps(
            {
                "type": "external_account",
                "audience": "//iam.googleapis.com/locations/global/workforcePools/p/providers/a",
                "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
                "token_url": f"{self.url}/v1/token",
                "credential_source": source,
            }
        )


@pytest.fixture
async def service() -> AsyncIterator[TokenService]:
    made = TokenService(url="")
    application = web.Application()
    application.add_routes([web.post("/v1/token", made.answer)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


def tokens(
    setting: str | None, identity: Callable[[str], str] | None = None, *, named: bool = True
) -> GoogleTokens:
    async def token(scope: str) -> str:
        assert identity is not None
        return identity(scope)

    def key(name: str) -> str:
        return {"KEY": setting}[name] or ""

    deployment = Deployment(
        name=DeploymentName("gemini"),
        provider="vertex",
        model="m",
        deployment="m",
        key_setting="KEY" if named else None,
    )
    connection = Connection(clock=SystemClock(), key=key, token=token if identity else None)
    return GoogleTokens(deployment, connection)


async def test_a_text_that_is_no_json_is_used_as_it_is() -> None:
    assert await tokens("gateway-key").get() == "gateway-key"


async def test_the_apps_identity_is_exchanged_once_while_the_token_is_good(service: TokenService) -> None:
    scopes: list[str] = []

    def identity(scope: str) -> str:
        scopes.append(scope)
        return "entra-token"

    source = {"url": METADATA, "headers": {"Metadata": "True"}, "format": {"type": "json"}}
    found = tokens(service.federation(source), identity)

    assert set(await asyncio.gather(found.get(), found.get(), found.get())) == {"ya29.1"}
    assert scopes == ["api://postern/.default"]
    assert [asked["subject_token"] for asked in service.asked] == ["entra-token"]
    assert "cloud-platform" in service.asked[0]["scope"]


async def test_another_federation_reads_its_own_source(service: TokenService, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-a-file")

    found = tokens(service.federation({"file": str(tmp_path / "token")}), lambda scope: "entra-token")

    assert await found.get() == "ya29.1"
    assert service.asked[0]["subject_token"] == "from-a-file"


async def test_without_a_setting_googles_own_libraries_are_asked(
    service: TokenService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("from-a-file")
    (tmp_path / "adc.json").write_text(service.federation({"file": str(tmp_path / "token")}))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "adc.json"))

    assert await tokens(None, named=False).get() == "ya29.1"


async def test_an_exchange_that_is_refused_is_the_operators_to_mend_and_quotes_nothing(
    service: TokenService,
) -> None:
    service.status = 400
    found = tokens(service.federation({"url": METADATA}), lambda scope: "entra-token")

    with pytest.raises(NotAdmitted) as refused:
        await found.get()

    assert "s3cret" not in str(refused.value)
    assert "entra" not in str(refused.value)
    service.status = 200
    assert (await found.get()).startswith("ya29.")


async def test_a_token_service_that_cannot_be_reached_is_asked_later() -> None:
    nowhere = TokenService(url="http://127.0.0.1:9")

    with pytest.raises(TryAgainLater):
        await tokens(nowhere.federation({"url": METADATA}), lambda scope: "entra-token").get()


@pytest.mark.parametrize("setting", ["", '{"type": "service_account"', '{"type": "unheard_of"}', "{}"])
async def test_a_setting_that_holds_no_credentials_is_named_and_not_quoted(setting: str) -> None:
    with pytest.raises(NotAdmitted, match="gemini") as refused:
        await tokens(setting).get()

    assert "unheard" not in str(refused.value)

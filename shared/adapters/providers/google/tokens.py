"""Access tokens of Google, from whatever the deployment's key setting holds.

A service account's key, or a configuration of workload identity federation, as JSON. One that was made for
Azure (`gcloud iam workload-identity-pools create-cred-config --azure`) asks the machine's metadata service for
the app's identity; Functions have none, so the app's own identity is asked instead. Any other text is used
as a token as it is, for gateways. Without a setting: what Google's libraries find by themselves.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import google.auth
import msgspec
from google.auth import identity_pool
from google.auth.exceptions import GoogleAuthError
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from shared.adapters.providers.common.deployments import key_of
from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import NotAdmitted, TryAgainLater

SCOPES: Final = ("https://www.googleapis.com/auth/cloud-platform",)
# Microsoft's "Azure Instance Metadata Service" page, read 2026-11-30.
_AZURE_METADATA: Final = "169.254.169.254"


class Credentials(Protocol):
    """As much of google-auth's credentials as is needed here."""

    token: str | None

    @property
    def valid(self) -> bool: ...

    def refresh(self, request: Request) -> None: ...


class _GivenToken:
    """The subject token that federation exchanges: fetched before, for this is called in a thread."""

    def __init__(self) -> None:
        self.token = ""

    def get_subject_token(self, context: object, request: object) -> str:
        return self.token


class GoogleTokens:
    """One per deployment and event loop."""

    def __init__(self, deployment: Deployment, connection: Connection) -> None:
        self._name = deployment.name
        self._connection = connection
        self._lock = asyncio.Lock()
        self._subject = _GivenToken()
        self._scope: str | None = None
        self._credentials: Credentials | None = None
        setting = key_of(deployment, connection)
        self._fixed = setting if setting and not setting.lstrip().startswith("{") else None
        self._make: Callable[[], Credentials] = _found
        if setting and self._fixed is None:
            self._make = self._read(setting)

    async def get(self) -> str:
        """A token that is good for a call. Raise `NotAdmitted`, `TryAgainLater`."""
        if self._fixed is not None:
            return self._fixed
        async with self._lock:
            if self._credentials is None or not self._credentials.valid:
                await self._refresh()
            credentials = self._credentials
        if credentials is None or not credentials.token:
            raise NotAdmitted(f"deployment {self._name!r}: Google gave no token")
        return credentials.token

    async def _refresh(self) -> None:
        if self._scope is not None and self._connection.token is not None:
            self._subject.token = await self._connection.token(self._scope)
        try:
            self._credentials = await asyncio.to_thread(self._fresh)
        except (GoogleAuthError, ValueError) as fault:
            raise self._no(fault) from None

    def _fresh(self) -> Credentials:
        credentials = self._credentials or self._make()
        credentials.refresh(Request())
        return credentials

    def _no(self, fault: Exception) -> TryAgainLater:
        """Its text may quote the setting, or what the token service answered: none of it travels on."""
        if isinstance(fault, GoogleAuthError) and fault.retryable:
            return TryAgainLater(f"deployment {self._name!r}: no token of Google's to be had at present")
        return NotAdmitted(
            f"deployment {self._name!r}: Google gives no token ({type(fault).__name__}); check the key_setting,"
            " or the identity that is federated"
        )

    def _read(self, setting: str) -> Callable[[], Credentials]:
        try:
            told = msgspec.json.decode(setting, type=dict[str, Any])
        except msgspec.MsgspecError:
            raise NotAdmitted(f"deployment {self._name!r}: the key_setting holds no sound JSON") from None
        resource = _azure_resource(told)
        if resource is not None and self._connection.token is not None:
            self._scope = f"{resource}/.default"
            return lambda: _federated(told, self._subject)
        return lambda: _loaded(told)


def _found() -> Credentials:
    credentials, _ = google.auth.default(scopes=list(SCOPES))
    return cast("Credentials", credentials)


def _loaded(told: Mapping[str, Any]) -> Credentials:
    """By its type: the general way of google-auth would take anything, also what runs a command."""
    if told.get("type") == "external_account":
        made = identity_pool.Credentials.from_info(told, scopes=list(SCOPES))  # type: ignore[no-untyped-call]
    else:
        made = service_account.Credentials.from_service_account_info(told, scopes=list(SCOPES))  # type: ignore[no-untyped-call]
    return cast("Credentials", made)


def _azure_resource(told: Mapping[str, Any]) -> str | None:
    """For whom the app's identity is to vouch, if the metadata service of Azure was to be asked."""
    source = told.get("credential_source")
    url = source.get("url") if isinstance(source, Mapping) else None
    parts = urlsplit(url) if isinstance(url, str) else None
    if told.get("type") != "external_account" or parts is None or parts.hostname != _AZURE_METADATA:
        return None
    return next(iter(parse_qs(parts.query).get("resource", [])), None)


def _federated(told: Mapping[str, Any], supplier: _GivenToken) -> Credentials:
    credentials = identity_pool.Credentials(  # type: ignore[no-untyped-call]
        audience=told.get("audience"),
        subject_token_type=told.get("subject_token_type"),
        token_url=told.get("token_url", "https://sts.googleapis.com/v1/token"),
        service_account_impersonation_url=told.get("service_account_impersonation_url"),
        subject_token_supplier=supplier,
        scopes=list(SCOPES),
    )
    return cast("Credentials", credentials)

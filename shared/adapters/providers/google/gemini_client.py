"""The `google-genai` client, signed in and without retries."""

from typing import Protocol

import google.oauth2.credentials
import httpx2
from google import genai
from google.genai import types
from google.genai.client import AsyncClient

from shared.adapters.providers.google.tokens import GoogleTokens


class GeminiClient(Protocol):
    """One per deployment and event loop.

    It has an HTTP client of its own: over aiohttp the SDK repeats a call whose connection broke, even a create.
    """

    async def ready(self) -> AsyncClient:
        """For one call."""
        ...

    async def close(self) -> None: ...


class VertexClient:
    """Vertex AI, with tokens of ours."""

    def __init__(
        self,
        *,
        project: str,
        location: str,
        address: str | None,
        tokens: GoogleTokens,
        timeout: httpx2.Timeout,
    ) -> None:
        self._tokens = tokens
        self._http = httpx2.AsyncClient(timeout=timeout)
        # Kept fresh before every call; the SDK would renew them by itself, but not as the app's identity.
        self._credentials = google.oauth2.credentials.Credentials(token="none yet")  # type: ignore[no-untyped-call]  # noqa: S106
        self._client = genai.Client(
            enterprise=True,
            project=project,
            location=location,
            credentials=self._credentials,
            http_options=_options(address, self._http),
        )

    async def ready(self) -> AsyncClient:
        self._credentials.token = await self._tokens.get()
        return self._client.aio

    async def close(self) -> None:
        await self._http.aclose()
        self._client.close()


class DeveloperClient:
    """The Gemini Developer API, with a key."""

    def __init__(self, *, key: str, address: str | None, timeout: httpx2.Timeout) -> None:
        self._http = httpx2.AsyncClient(timeout=timeout)
        self._client = genai.Client(enterprise=False, api_key=key, http_options=_options(address, self._http))

    async def ready(self) -> AsyncClient:
        return self._client.aio

    async def close(self) -> None:
        await self._http.aclose()
        self._client.close()


def _options(address: str | None, http: httpx2.AsyncClient) -> types.HttpOptions:
    return types.HttpOptions(base_url=address, api_version="v1", httpx_async_client=http)

"""The `google-genai` client with tokens of ours and no retries."""

import google.oauth2.credentials
import httpx2
from google import genai
from google.genai import types
from google.genai.client import AsyncClient

from shared.adapters.providers._google_tokens import GoogleTokens


class GeminiClient:
    """One per deployment and event loop.

    It has an HTTP client of its own: over aiohttp the SDK repeats a call whose connection broke, even a create.
    """

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
            http_options=types.HttpOptions(base_url=address, api_version="v1", httpx_async_client=self._http),
        )

    async def ready(self) -> AsyncClient:
        """For one call."""
        self._credentials.token = await self._tokens.get()
        return self._client.aio

    async def close(self) -> None:
        await self._http.aclose()
        self._client.close()

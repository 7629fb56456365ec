"""Servers that speak as OpenAI does: vLLM, Ollama, a gateway of one's own."""

from typing import Final

import httpx2
import openai

from shared.adapters.providers._deployments import key_of
from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import GiveUp

# Servers of one's own often want no key; the SDK wants one.
_NO_KEY: Final = "none"
_TIMEOUT: Final = httpx2.Timeout(600, connect=10, write=60, pool=60)


def client_of(deployment: Deployment, connection: Connection) -> openai.AsyncOpenAI:
    """A client that never retries."""
    if not deployment.endpoint:
        raise GiveUp(f"deployment {deployment.name!r} has no base_url; add one to the catalogue")
    return openai.AsyncOpenAI(
        base_url=deployment.endpoint,
        api_key=key_of(deployment, connection) or _NO_KEY,
        max_retries=0,
        timeout=_TIMEOUT,
    )

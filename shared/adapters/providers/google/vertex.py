"""Gemini on Vertex AI: batch prediction jobs, and calls that are answered at once.

Facts from Google's "Batch inference with Gemini" and "Quotas and system limits" pages of Vertex AI, read
2026-11-30, and from captures of the service of September 2026 where the pages are silent.
"""

from datetime import timedelta
from typing import Final

import httpx2

from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.google.cloud_storage import CloudBucket
from shared.adapters.providers.google.gemini_client import DeveloperClient, GeminiClient, VertexClient
from shared.adapters.providers.google.gemini_model import GeminiModel
from shared.adapters.providers.google.tokens import GoogleTokens
from shared.adapters.providers.google.vertex_batches import Terms, VertexBatches
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import GiveUp
from shared.domain.planning import Limits
from shared.ports.providers import Traits

# 1 GB for an input file in Cloud Storage, with room for whoever counts in another way.
MAX_BYTES: Final = 990_000_000
# A row of the table that the input is loaded into; BigQuery's "Quotas and limits" page says 100 MB.
MAX_LINE_BYTES: Final = 99_000_000

TRAITS: Final = Traits(
    limits=Limits(requests=200_000, bytes=MAX_BYTES, line_bytes=MAX_LINE_BYTES),
    endpoints=frozenset({Endpoint.CHAT, Endpoint.RESPONSES}),
    # No page promises one; a minute is far beyond what was seen.
    listing_lag=timedelta(seconds=60),
    find_is_exact=True,
    # 72 hours in the queue, after which a job expires; then 24 to run, after which the rest is cancelled.
    window=timedelta(hours=72 + 24),
)

_TIMEOUT: Final = httpx2.Timeout(120, connect=10, pool=60)
_AT_ONCE: Final = httpx2.Timeout(150, connect=10, pool=10)


def connect(deployment: Deployment, connection: Connection) -> VertexBatches:
    """Nothing is sent before the first verb is called."""
    tokens = GoogleTokens(deployment, connection)
    return VertexBatches(
        client=_client(deployment, tokens, _TIMEOUT),
        bucket=CloudBucket(
            name=_option(deployment, "bucket"),
            address=deployment.options.get("storage_url"),
            tokens=tokens,
            clock=connection.clock,
        ),
        terms=Terms(
            traits=traits_of(TRAITS, deployment),
            model=deployment.deployment,
            create_timeout=connection.create_timeout,
        ),
        clock=connection.clock,
    )


def model(deployment: Deployment, connection: Connection) -> GeminiModel:
    """Needs no bucket; with a key and without a project it is the Gemini Developer API that is asked."""
    client: GeminiClient
    key = None if "project" in deployment.options else key_of(deployment, connection)
    if key is not None:
        client = DeveloperClient(key=key, address=deployment.endpoint, timeout=_AT_ONCE)
    else:
        client = _client(deployment, GoogleTokens(deployment, connection), _AT_ONCE)
    return GeminiModel(client=client, model=deployment.deployment, clock=connection.clock)


def _client(deployment: Deployment, tokens: GoogleTokens, timeout: httpx2.Timeout) -> VertexClient:
    return VertexClient(
        project=_option(deployment, "project"),
        location=deployment.options.get("location", "global"),
        address=deployment.endpoint,
        tokens=tokens,
        timeout=timeout,
    )


def _option(deployment: Deployment, name: str) -> str:
    value = deployment.options.get(name)
    if not value:
        raise GiveUp(f"deployment {deployment.name!r} has no {name}; add one to the catalogue")
    return value

"""Azure OpenAI: Global Batch and Data Zone Batch deployments.

Facts from Microsoft's "Azure OpenAI Batch" and "Quotas and limits" pages, read 2026-11-30.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

import httpx2
import openai

from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.azure_blobs import MAX_BYTES as MAX_BLOB_BYTES
from shared.adapters.providers.openai.azure_blobs import AzureBlobBatches
from shared.adapters.providers.openai.batches import OpenAIBatches, Terms
from shared.adapters.providers.openai.objections import fitted, objection
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import GiveUp, NotAdmitted
from shared.domain.planning import Limits
from shared.ports.providers import Traits

# "200 MB": read as decimal, with room for whoever counts in another way.
MAX_BYTES: Final = 199_000_000

TRAITS: Final = Traits(
    limits=Limits(requests=100_000, bytes=MAX_BYTES, line_bytes=MAX_BYTES),
    endpoints=frozenset({Endpoint.CHAT, Endpoint.RESPONSES}),
    listing_lag=timedelta(seconds=10),
    find_is_exact=True,
    window=timedelta(hours=24),
)

TRAITS_OF_BLOBS: Final = replace(
    TRAITS, limits=replace(TRAITS.limits, bytes=MAX_BLOB_BYTES, line_bytes=MAX_BYTES)
)

# 14 to 30 days are allowed. Input files with an expiry have twenty times the quota of those without.
INPUT_KEPT: Final = timedelta(days=14)
OUTPUT_KEPT: Final = timedelta(days=30)

_TIMEOUT: Final = httpx2.Timeout(600, connect=10, write=60, pool=60)
_V1: Final = "/openai/v1"


def connect(deployment: Deployment, connection: Connection) -> OpenAIBatches:
    """Nothing is sent before the first verb is called."""
    client, own_storage = client_of(deployment, connection), deployment.options.get("storage") == "own"
    terms = Terms(
        traits=traits_of(TRAITS_OF_BLOBS if own_storage else TRAITS, deployment),
        model=deployment.deployment,
        objection=partial(objection, deployment.model),
        fit=partial(fitted, deployment.model),
        input_kept=INPUT_KEPT,
        output_kept=OUTPUT_KEPT,
        create_timeout=connection.create_timeout,
    )
    if not own_storage:
        return OpenAIBatches(client=client, terms=terms, clock=connection.clock)
    if connection.blobs is None:
        raise GiveUp(f"deployment {deployment.name!r} has storage: own, and the app has no storage here")
    return AzureBlobBatches(client=client, terms=terms, clock=connection.clock, blobs=connection.blobs)


def client_of(deployment: Deployment, connection: Connection) -> openai.AsyncOpenAI:
    """A client that never retries, with what its calls have in common."""
    root = _root(deployment)
    if deployment.api_version is None:
        return openai.AsyncOpenAI(
            base_url=f"{root}{_V1}/",
            api_key=key_of(deployment, connection) or _token(deployment, connection),
            max_retries=0,
            timeout=_TIMEOUT,
        )
    key = key_of(deployment, connection)
    return openai.AsyncAzureOpenAI(
        azure_endpoint=root,
        api_version=deployment.api_version,
        api_key=key,
        azure_ad_token_provider=None if key else _token(deployment, connection),
        max_retries=0,
        timeout=_TIMEOUT,
    )


def _root(deployment: Deployment) -> str:
    if not deployment.endpoint:
        raise GiveUp(f"deployment {deployment.name!r} has no endpoint; add one to the catalogue")
    return deployment.endpoint.rstrip("/").removesuffix(_V1)


def _token(deployment: Deployment, connection: Connection) -> Callable[[], Awaitable[str]]:
    token, scope = connection.token, connection.openai_scope
    if token is None:
        raise NotAdmitted(f"deployment {deployment.name!r} has no key_setting, and the app has no identity")
    return lambda: token(scope)

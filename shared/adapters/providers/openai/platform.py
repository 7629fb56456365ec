"""OpenAI's own platform.

Facts from OpenAI's "Batch API" guide and the API reference of files and batches, read 2026-11-30.
"""

from datetime import timedelta
from functools import partial
from typing import Final

import httpx2
import openai

from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai.batches import OpenAIBatches, Terms
from shared.adapters.providers.openai.objections import fitted, objection
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import NotAdmitted
from shared.domain.planning import Limits
from shared.ports.providers import Traits

# "200 MB": read as decimal, with room for whoever counts in another way.
MAX_BYTES: Final = 199_000_000

TRAITS: Final = Traits(
    # A batch of embeddings may hold 50,000 inputs in all, several of them in one request.
    limits=Limits(requests=50_000, bytes=MAX_BYTES, line_bytes=MAX_BYTES, vectors=50_000),
    endpoints=frozenset(Endpoint),
    listing_lag=timedelta(seconds=10),
    find_is_exact=True,
    window=timedelta(hours=24),
)

# 1 hour to 30 days are allowed, for input and for output files.
INPUT_KEPT: Final = timedelta(days=14)
OUTPUT_KEPT: Final = timedelta(days=30)

_ADDRESS: Final = "https://api.openai.com/v1"
_TIMEOUT: Final = httpx2.Timeout(600, connect=10, write=60, pool=60)


def connect(deployment: Deployment, connection: Connection) -> OpenAIBatches:
    """Nothing is sent before the first verb is called."""
    return OpenAIBatches(
        client=client_of(deployment, connection),
        terms=Terms(
            traits=traits_of(TRAITS, deployment),
            model=deployment.deployment,
            objection=partial(objection, deployment.model),
            fit=partial(fitted, deployment.model),
            input_kept=INPUT_KEPT,
            output_kept=OUTPUT_KEPT,
            create_timeout=connection.create_timeout,
        ),
        clock=connection.clock,
    )


def client_of(deployment: Deployment, connection: Connection) -> openai.AsyncOpenAI:
    """A client that never retries, at the deployment's own address if it has one."""
    return openai.AsyncOpenAI(
        base_url=deployment.endpoint or _ADDRESS,
        api_key=_key(deployment, connection),
        max_retries=0,
        timeout=_TIMEOUT,
    )


def _key(deployment: Deployment, connection: Connection) -> str:
    key = key_of(deployment, connection)
    if key is None:
        raise NotAdmitted(f"deployment {deployment.name!r} has no key_setting; openai needs a key")
    return key

"""Anthropic: Message Batches and Messages.

Facts from Anthropic's "Batch processing", "Versions" and "Errors" pages, read 2026-11-30.
"""

from datetime import timedelta
from typing import Final

import anthropic
import httpx2

from shared.adapters.providers.anthropic.asked import WITHOUT_SAMPLING, Translator
from shared.adapters.providers.anthropic.batches import AnthropicBatches, Terms
from shared.adapters.providers.anthropic.model import AnthropicModel
from shared.adapters.providers.common.deployments import key_of, traits_of
from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import NotAdmitted
from shared.domain.planning import Limits
from shared.ports.providers import Traits

# 256 MB are allowed. The requests travel inside the create, which has to be over while its lease lasts: this
# much is sent within a minute at 14 Mbit/s.
MAX_BYTES: Final = 100_000_000

TRAITS: Final = Traits(
    limits=Limits(requests=100_000, bytes=MAX_BYTES, line_bytes=MAX_BYTES),
    endpoints=frozenset({Endpoint.CHAT, Endpoint.RESPONSES}),
    # Not told anywhere. Looks just after a create were seen to miss it for a moment.
    listing_lag=timedelta(seconds=60),
    find_is_exact=False,
    window=timedelta(hours=24),
    needs_output_limit=True,
)

_ADDRESS: Final = "https://api.anthropic.com"
_TIMEOUT: Final = httpx2.Timeout(600, connect=10, write=60, pool=60)
_AT_ONCE: Final = httpx2.Timeout(150, connect=10, pool=10)


def connect(deployment: Deployment, connection: Connection) -> AnthropicBatches:
    """Nothing is sent before the first verb is called."""
    return AnthropicBatches(
        client=_client(deployment, connection, _TIMEOUT),
        translator=_translator(deployment),
        terms=Terms(traits=traits_of(TRAITS, deployment), create_timeout=connection.create_timeout),
        clock=connection.clock,
    )


def model(deployment: Deployment, connection: Connection) -> AnthropicModel:
    return AnthropicModel(
        client=_client(deployment, connection, _AT_ONCE),
        translator=_translator(deployment),
        clock=connection.clock,
    )


def _translator(deployment: Deployment) -> Translator:
    return Translator(model=deployment.deployment, version=_version(deployment))


def _version(deployment: Deployment) -> str:
    return deployment.api_version or WITHOUT_SAMPLING


def _client(
    deployment: Deployment, connection: Connection, timeout: httpx2.Timeout
) -> anthropic.AsyncAnthropic:
    """A client that never retries, and takes nothing from the environment."""
    key = key_of(deployment, connection)
    if key is None:
        raise NotAdmitted(f"deployment {deployment.name!r} has no key_setting; anthropic needs a key")
    return anthropic.AsyncAnthropic(
        base_url=deployment.endpoint or _ADDRESS,
        api_key=key,
        max_retries=0,
        timeout=timeout,
        default_headers={"anthropic-version": _version(deployment)},
    )

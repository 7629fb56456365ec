"""Models behind OpenAI's calls: Azure OpenAI, OpenAI itself, and whatever speaks as it does."""

from typing import Final

import httpx2
import openai

from shared.adapters.providers import azure_openai
from shared.adapters.providers._openai_model import OpenAIModel
from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import NotAdmitted

_OPENAI: Final = "https://api.openai.com/v1"
# Servers of one's own often want no key; the SDK wants one.
_NO_KEY: Final = "none"
_TIMEOUT: Final = httpx2.Timeout(150, connect=10, pool=10)


def azure(deployment: Deployment, connection: Connection) -> OpenAIModel:
    return _model(deployment, connection, azure_openai.client_of(deployment, connection))


def plain(deployment: Deployment, connection: Connection) -> OpenAIModel:
    """OpenAI, or a server at the deployment's own address."""
    client = openai.AsyncOpenAI(
        base_url=deployment.endpoint or _OPENAI,
        api_key=_key(deployment, connection),
        max_retries=0,
    )
    return _model(deployment, connection, client)


def _model(deployment: Deployment, connection: Connection, client: openai.AsyncOpenAI) -> OpenAIModel:
    return OpenAIModel(
        client=client.with_options(timeout=_TIMEOUT), model=deployment.deployment, clock=connection.clock
    )


def _key(deployment: Deployment, connection: Connection) -> str:
    if deployment.key_setting is None:
        if deployment.provider == "openai_compatible":
            return _NO_KEY
        raise NotAdmitted(
            f"deployment {deployment.name!r} has no key_setting; {deployment.provider} needs a key"
        )
    try:
        key = connection.key(deployment.key_setting)
    except KeyError:
        key = ""
    if not key:
        raise NotAdmitted(
            f"deployment {deployment.name!r}: app setting {deployment.key_setting!r} is missing"
        )
    return key

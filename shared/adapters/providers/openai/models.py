"""Models behind OpenAI's calls: Azure OpenAI, OpenAI itself, and whatever speaks as it does."""

from typing import Final

import httpx2
import openai

from shared.adapters.providers.connection import Connection
from shared.adapters.providers.openai import azure as on_azure
from shared.adapters.providers.openai import compatible as elsewhere
from shared.adapters.providers.openai import platform as on_platform
from shared.adapters.providers.openai.model import OpenAIModel
from shared.domain.catalog import Deployment

_TIMEOUT: Final = httpx2.Timeout(150, connect=10, pool=10)


def azure(deployment: Deployment, connection: Connection) -> OpenAIModel:
    return _model(deployment, connection, on_azure.client_of(deployment, connection))


def plain(deployment: Deployment, connection: Connection) -> OpenAIModel:
    return _model(deployment, connection, on_platform.client_of(deployment, connection))


def compatible(deployment: Deployment, connection: Connection) -> OpenAIModel:
    """A server at the deployment's own address."""
    return _model(deployment, connection, elsewhere.client_of(deployment, connection))


def _model(deployment: Deployment, connection: Connection, client: openai.AsyncOpenAI) -> OpenAIModel:
    return OpenAIModel(
        client=client.with_options(timeout=_TIMEOUT), model=deployment.deployment, clock=connection.clock
    )

"""Deployments to their providers. A provider's SDK is imported when the first deployment needs it."""

import asyncio
import importlib
from typing import Final, Protocol, cast

from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import GiveUp
from shared.domain.ids import DeploymentName
from shared.ports.providers import BatchProvider

# Each module has `TRAITS`, and `connect(deployment, connection)`.
MODULES: Final = {
    "anthropic": "shared.adapters.providers.anthropic.provider",
    "azure_openai": "shared.adapters.providers.openai.azure",
    "mistral": "shared.adapters.providers.mistral.batches",
    "openai": "shared.adapters.providers.openai.platform",
    "openai_compatible": "shared.adapters.providers.openai.compatible",
    "vertex": "shared.adapters.providers.google.vertex",
}


class _Connected(BatchProvider, Protocol):
    async def close(self) -> None: ...


class _Module(Protocol):
    def connect(self, deployment: Deployment, connection: Connection) -> _Connected: ...


class ProviderRegistry:
    """One per process and event loop. Call `close` at its end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._current: dict[DeploymentName, tuple[Deployment, _Connected]] = {}
        # A call may still be under way on a provider whose deployment has changed.
        self._replaced: list[_Connected] = []

    def batch(self, deployment: Deployment) -> BatchProvider:
        known = self._current.get(deployment.name)
        if known is not None and known[0] == deployment:
            return known[1]
        provider = _module(deployment).connect(deployment, self._connection)
        if known is not None:
            self._replaced.append(known[1])
        self._current[deployment.name] = (deployment, provider)
        return provider

    async def prepare(self, deployment: Deployment) -> None:
        # An SDK is a second of imports; a thread shares the process with others while it does them.
        if deployment.name not in self._current:
            await asyncio.to_thread(_module, deployment)

    async def close(self) -> None:
        providers = [provider for _, provider in self._current.values()] + self._replaced
        self._current, self._replaced = {}, []
        for provider in providers:
            await provider.close()


def _module(deployment: Deployment) -> _Module:
    path = MODULES.get(deployment.provider)
    if path is None:
        raise GiveUp(
            f"deployment {deployment.name!r}: provider {deployment.provider!r} has no batch adapter;"
            f" there is one for {', '.join(sorted(MODULES))}"
        )
    return cast("_Module", importlib.import_module(path))

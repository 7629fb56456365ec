"""Deployments to the models behind them. A provider's SDK is imported when the first deployment needs it."""

import importlib
from collections.abc import Callable
from typing import Final, Protocol, cast

from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import GiveUp
from shared.domain.ids import DeploymentName
from shared.ports.models import Model

_OPENAI: Final = "shared.adapters.providers.openai.models"
# Module, and the function in it that takes a deployment and a connection.
MAKERS: Final = {
    "anthropic": ("shared.adapters.providers.anthropic.provider", "model"),
    "azure_openai": (_OPENAI, "azure"),
    "openai": (_OPENAI, "plain"),
    "openai_compatible": (_OPENAI, "compatible"),
    "mistral": ("shared.adapters.providers.mistral.models", "connect"),
    "vertex": ("shared.adapters.providers.google.vertex", "model"),
}


class _Connected(Model, Protocol):
    async def close(self) -> None: ...


_Make = Callable[[Deployment, Connection], _Connected]


class ModelRegistry:
    """One per process and event loop. Call `close` at its end."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._current: dict[DeploymentName, tuple[Deployment, _Connected]] = {}
        # A call may still be under way on a model whose deployment has changed.
        self._replaced: list[_Connected] = []

    def model(self, deployment: Deployment) -> Model:
        known = self._current.get(deployment.name)
        if known is not None and known[0] == deployment:
            return known[1]
        model = _maker(deployment)(deployment, self._connection)
        if known is not None:
            self._replaced.append(known[1])
        self._current[deployment.name] = (deployment, model)
        return model

    async def close(self) -> None:
        models = [model for _, model in self._current.values()] + self._replaced
        self._current, self._replaced = {}, []
        for model in models:
            await model.close()


def _maker(deployment: Deployment) -> _Make:
    found = MAKERS.get(deployment.provider)
    if found is None:
        raise GiveUp(
            f"deployment {deployment.name!r}: provider {deployment.provider!r} does not answer at once;"
            f" these do: {', '.join(sorted(MAKERS))}"
        )
    module, name = found
    return cast("_Make", getattr(importlib.import_module(module), name))

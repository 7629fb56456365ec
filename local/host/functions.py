"""What the host knows of one function of the app, and what a trigger type must be able to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web

type Binding = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function as the worker indexed it; `bindings` are the decorators in JSON form."""

    name: str
    id: str
    bindings: tuple[Binding, ...]

    @property
    def trigger(self) -> Binding:
        return next(binding for binding in self.bindings if binding["type"].endswith("Trigger"))

    @property
    def inputs(self) -> tuple[Binding, ...]:
        """Input bindings beside the trigger."""
        return tuple(
            binding
            for binding in self.bindings
            if binding["direction"].lower() == "in" and binding is not self.trigger
        )

    @property
    def outputs(self) -> tuple[Binding, ...]:
        return tuple(binding for binding in self.bindings if binding["direction"].lower() == "out")


class CannotServe(Exception):
    """The host cannot run this function; the message says why. The function is skipped."""


class Trigger(Protocol):
    """Makes the functions of one or more trigger types run. One module per kind."""

    @property
    def types(self) -> frozenset[str]:
        """Binding types it serves, such as `timerTrigger`."""

    def bind(self, function: Function) -> None:
        """Take over a function; called before `start`. Raises `CannotServe`."""

    def routes(self) -> Iterable[web.RouteDef]:
        """Paths of its own on the host's HTTP port, such as a webhook. Read once, after every `bind`."""

    async def start(self) -> None:
        """Begin to invoke. The worker is ready and the HTTP port is about to open."""

    async def stop(self) -> None:
        """Invoke no more; what is in flight may be cut. Called once, even when `start` failed."""

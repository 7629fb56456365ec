"""Service Bus queue triggers: peek-lock, one message for each call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from aiohttp import web

from local.host.configuration import Configuration
from local.host.functions import CannotServe, Function
from local.host.invoker import Invoker
from local.host.queue_listener import QueueListener

_MANY = "many"


class ServiceBusTrigger:
    """Topics, sessions, batches and settlement by the function itself are not served."""

    types = frozenset({"serviceBusTrigger"})

    def __init__(self, *, configuration: Configuration, invoker: Invoker) -> None:
        self._configuration = configuration
        self._invoker = invoker
        self._listeners: list[QueueListener] = []

    def bind(self, function: Function) -> None:
        trigger = function.trigger
        if "queueName" not in trigger:
            raise CannotServe("the local host receives from queues only, not from topics")
        if trigger.get("isSessionsEnabled") or str(trigger.get("cardinality", "")).lower() == _MANY:
            raise CannotServe("the local host receives message by message, without sessions")
        if not trigger.get("autoCompleteMessages", True):
            raise CannotServe("the local host settles messages itself; leave autoCompleteMessages on")
        self._listeners.append(
            QueueListener(
                function=function,
                queue=self._configuration.resolve(trigger["queueName"]),
                connection=self._configuration.connection(trigger["connection"]),
                limits=self._configuration.service_bus,
                invoker=self._invoker,
            )
        )

    def routes(self) -> Iterable[web.RouteDef]:
        return ()

    async def start(self) -> None:
        for listener in self._listeners:
            listener.start()

    async def stop(self) -> None:
        await asyncio.gather(*(listener.stop() for listener in self._listeners))

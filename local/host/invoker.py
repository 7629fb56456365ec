"""Invokes a function with its trigger's data and whatever its other input bindings ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta

from local.host.functions import Binding, CannotServe, Function
from local.host.messages import InvocationResponse, TypedData
from local.host.worker import Invocation, InvocationFailed, Worker

log = logging.getLogger(__name__)

type InputSource = Callable[[Binding], TypedData]


class Invoker:
    """`sources` give the data of an input binding by its type, such as `durableClient`."""

    def __init__(self, *, worker: Worker, time_limit: timedelta, sources: Mapping[str, InputSource]) -> None:
        self._worker = worker
        self._time_limit = time_limit
        self._sources = sources

    @property
    def http_address(self) -> str | None:
        """Where the worker serves HTTP itself; None when it takes requests whole."""
        return self._worker.http_address

    def check(self, function: Function) -> None:
        """Raise `CannotServe` when a binding beside the trigger is of a kind the host does not have."""
        for binding in (*function.inputs, *function.outputs):
            if binding["type"] not in self._sources and binding["type"] != "http":
                raise CannotServe(f"the local host has no {binding['type']} binding")

    async def __call__(
        self,
        function: Function,
        data: TypedData,
        *,
        metadata: Mapping[str, TypedData] | None = None,
        invocation_id: str | None = None,
    ) -> InvocationResponse:
        """Run the function to its end. Raises `InvocationFailed`."""
        inputs = {function.trigger["name"]: data}
        for binding in function.inputs:
            inputs[binding["name"]] = self._sources[binding["type"]](binding)
        identity = {} if invocation_id is None else {"id": invocation_id}
        invocation = Invocation(function=function, inputs=inputs, metadata=metadata or {}, **identity)
        return await self._worker.invoke(invocation, time_limit=self._time_limit)


def log_failure(function: Function, failure: InvocationFailed) -> None:
    log.error("function.failed %s: %s\n%s", function.name, failure.message, failure.stack_trace)

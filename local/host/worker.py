"""Runs the function app inside Microsoft's worker library, in this process and on this event loop.

The library keeps its registry in module globals, so there is one app and one worker per process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import traceback
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import azure_functions_runtime as runtime  # type: ignore[import-untyped]
from azure_functions_runtime.http_v2 import http_coordinator  # type: ignore[import-untyped]

from local.host import messages
from local.host.embedded_server import EmbeddedServer, embed
from local.host.functions import Function

LOOPBACK = "127.0.0.1"
HTTP_CAPABILITY = "HttpUri"


class AppBroken(Exception):
    """The app cannot be loaded; the message carries the worker's reason and traceback."""


class InvocationFailed(Exception):
    """A function raised, or ran out of time. `message` is `{type}: {text}` as the worker reports it."""

    def __init__(self, *, message: str, stack_trace: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.stack_trace = stack_trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of a function; `inputs` are keyed by parameter name."""

    function: Function
    inputs: Mapping[str, messages.TypedData]
    metadata: Mapping[str, messages.TypedData] = field(default_factory=dict)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))


class Worker:
    """The loaded app. `functions` are all it declares; `http_address` is set when it serves HTTP itself."""

    def __init__(self, *, functions: tuple[Function, ...], http_address: str | None) -> None:
        self.functions = functions
        self.http_address = http_address

    async def invoke(self, invocation: Invocation, *, time_limit: timedelta) -> messages.InvocationResponse:
        """Call the function; raises `InvocationFailed` and nothing else, cancellation apart."""
        try:
            async with asyncio.timeout(time_limit.total_seconds()):
                response = await runtime.invocation_request(_request(invocation_request=_message(invocation)))
        except (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError) as exc:
            # The library answers a function's exception with a status. What is raised is a timeout, its own
            # breakage, or what would end the host if it were not stopped here, such as a function's exit().
            failure = _failure(exc, invocation, time_limit)
            self._answer(invocation.id, failure)
            if _is_cancelled(exc):
                raise
            raise failure from exc
        return _checked(response)

    def _answer(self, invocation_id: str, error: Exception) -> None:
        """End the HTTP request that waits in the worker for an answer nobody will give any more."""
        if self.http_address is not None:
            with contextlib.suppress(KeyError):
                http_coordinator.set_http_response(invocation_id, error)

    async def stop(self) -> None:
        if EmbeddedServer.running is not None:
            await EmbeddedServer.running.stop()
        executor = runtime.get_threadpool_executor()
        if executor is not None:
            # A synchronous function cannot be interrupted; waiting for one could hang the host.
            executor.shutdown(wait=False, cancel_futures=True)


async def start_worker(app: Path) -> Worker:
    """Load `function_app.py` from `app` and index it. Raises `AppBroken`."""
    embed()
    sys.path.insert(0, str(app))
    os.chdir(app)
    runtime.start_threadpool_executor()
    response = await runtime.worker_init_request(
        _request(
            worker_init_request=messages.WorkerInitRequest(
                capabilities={}, function_app_directory=str(app), host_version="4.0"
            )
        )
    )
    _raise_if_broken(app, response.result)
    address = response.capabilities.get(HTTP_CAPABILITY)
    if address is not None:
        await _until_accepting(address)
    return Worker(functions=await _functions(app), http_address=address)


async def _functions(app: Path) -> tuple[Function, ...]:
    response = await runtime.functions_metadata_request(None)
    if response.function_metadata_results is None:
        raise AppBroken(f"no function_app.py in {app}; give its folder with --app")
    return tuple([await _load(metadata) for metadata in response.function_metadata_results])


async def _load(metadata: messages.RpcFunctionMetadata) -> Function:
    load = messages.FunctionLoadRequest(function_id=metadata.function_id)
    await runtime.function_load_request(_request(function_load_request=load))
    return Function(
        name=metadata.name,
        id=metadata.function_id,
        bindings=tuple(json.loads(binding) for binding in metadata.raw_bindings),
    )


def _request(**content: messages.Message) -> SimpleNamespace:
    return SimpleNamespace(
        request=SimpleNamespace(**content), properties={"protos": messages, "host": LOOPBACK}
    )


def _message(invocation: Invocation) -> messages.InvocationRequest:
    return messages.InvocationRequest(
        invocation_id=invocation.id,
        function_id=invocation.function.id,
        input_data=[
            messages.ParameterBinding(name=name, data=data) for name, data in invocation.inputs.items()
        ],
        trigger_metadata=invocation.metadata,
        trace_context=messages.RpcTraceContext(trace_parent="", trace_state="", attributes={}),
        retry_context=messages.RetryContext(
            retry_count=0, max_retry_count=0, exception=messages.RpcException()
        ),
    )


def _checked(response: messages.InvocationResponse) -> messages.InvocationResponse:
    if response.result.status != messages.StatusResult.Success:
        failure = response.result.exception
        raise InvocationFailed(message=failure.message, stack_trace=failure.stack_trace)
    return response


def _failure(exc: BaseException, invocation: Invocation, time_limit: timedelta) -> InvocationFailed:
    if isinstance(exc, TimeoutError):
        return InvocationFailed(
            message=f"FunctionTimeoutException: Timeout value of {time_limit} exceeded by function "
            f"'Functions.{invocation.function.name}' (Id: '{invocation.id}')."
        )
    stack_trace = "".join(traceback.format_exception(exc))
    return InvocationFailed(message=f"{type(exc).__name__}: {exc}", stack_trace=stack_trace)


def _is_cancelled(exc: BaseException) -> bool:
    """Whether somebody cancels the invocation, rather than the function leaking a cancellation of its own."""
    task = asyncio.current_task()
    return isinstance(exc, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _raise_if_broken(app: Path, result: Any) -> None:
    if result.status != messages.StatusResult.Success:
        failure = result.exception
        raise AppBroken(f"the app in {app} cannot be loaded: {failure.message}\n{failure.stack_trace}")


async def _until_accepting(address: str) -> None:
    port = int(address.rpartition(":")[2])
    for _ in range(200):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise AppBroken(f"the worker's HTTP server does not answer on {address}")

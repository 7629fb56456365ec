"""The host itself: loads the app, hands each function to the trigger that serves it, opens the port."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from local.host.blobs import BlobTrigger
from local.host.configuration import Configuration, read_configuration
from local.host.durable import DurableHub, DurableTrigger
from local.host.functions import CannotServe, Function, Trigger
from local.host.http import HttpTrigger
from local.host.invoker import Invoker
from local.host.leftovers import close_what_the_app_left_open
from local.host.service_bus import ServiceBusTrigger
from local.host.timers import TimerTrigger
from local.host.worker import Worker, start_worker

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """What became of the app's functions; `skipped` gives the reason by name."""

    served: list[str] = field(default_factory=list)
    disabled: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


async def run_host(app: Path, *, port: int, data: Path) -> None:
    """Serve the app until SIGTERM or SIGINT; what must outlive the process is kept in `data`.

    Raises `AppBroken` when the app cannot be loaded.
    """
    ended = _end_signal()
    configuration = read_configuration(app, os.environ)
    worker = await start_worker(app)
    hub = DurableHub()
    invoker = Invoker(
        worker=worker,
        time_limit=configuration.time_limit,
        sources={"durableClient": hub.client_binding},
    )
    triggers = (
        TimerTrigger(configuration=configuration, invoker=invoker),
        DurableTrigger(hub=hub, configuration=configuration, invoker=invoker),
        BlobTrigger(configuration=configuration, invoker=invoker, folder=data),
        ServiceBusTrigger(configuration=configuration, invoker=invoker),
        # Last: its route takes what the others left.
        HttpTrigger(configuration=configuration, invoker=invoker),
    )
    census = _assign(worker, triggers, configuration, invoker)
    try:
        await _serve(triggers, census, port=port, ended=ended)
    finally:
        await _stop(triggers, worker)


def _assign(
    worker: Worker, triggers: tuple[Trigger, ...], configuration: Configuration, invoker: Invoker
) -> Census:
    by_type = {each: trigger for trigger in triggers for each in trigger.types}
    census = Census()
    for function in worker.functions:
        if configuration.is_disabled(function.name):
            census.disabled.append(function.name)
            continue
        try:
            _bind(function, by_type, invoker)
            census.served.append(function.name)
        except CannotServe as exc:
            census.skipped[function.name] = str(exc)
            print(f"function {function.name} is not served: {exc}", file=sys.stderr, flush=True)
    return census


def _bind(function: Function, by_type: dict[str, Trigger], invoker: Invoker) -> None:
    kind = function.trigger["type"]
    if kind not in by_type:
        raise CannotServe(f"the local host has no {kind}")
    invoker.check(function)
    by_type[kind].bind(function)


async def _serve(triggers: tuple[Trigger, ...], census: Census, *, port: int, ended: asyncio.Event) -> None:
    for trigger in triggers:
        await trigger.start()
    runner = web.AppRunner(
        _application(triggers, census),
        access_log=None,
        shutdown_timeout=GRACE_SECONDS,
        # Bodies are the app's to read; as the platform, this host passes them on as they are.
        auto_decompress=False,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, LOOPBACK, port).start()
        log.info("host.ready port %d, %d functions", port, len(census.served))
        await ended.wait()
    finally:
        await runner.cleanup()


def _application(triggers: tuple[Trigger, ...], census: Census) -> web.Application:
    async def status(_: web.Request) -> web.Response:
        return web.json_response(
            {
                "state": "Running",
                "functions": census.served,
                "disabled": census.disabled,
                "skipped": census.skipped,
            }
        )

    application = web.Application()
    application.router.add_get("/admin/host/status", status)
    for trigger in triggers:
        application.add_routes(trigger.routes())
    return application


async def _stop(triggers: tuple[Trigger, ...], worker: Worker) -> None:
    await asyncio.gather(*(trigger.stop() for trigger in triggers))
    await worker.stop()
    await close_what_the_app_left_open()


def _end_signal() -> asyncio.Event:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    return ended

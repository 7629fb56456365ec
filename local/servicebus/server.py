"""The listening socket and the clockwork behind it; everything is put together here."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from local.servicebus.amqp.performatives import Begin
from local.servicebus.attach import Directory
from local.servicebus.broker import Broker
from local.servicebus.connection import Connection
from local.servicebus.counts import CountsConnection, ShowCounts
from local.servicebus.definitions import Definitions
from local.servicebus.dispatch import Dispatch
from local.servicebus.outbound import Wire
from local.servicebus.session import Session
from local.servicebus.store import Store, open_database
from local.servicebus.turn import Action, Turn

HOST = "127.0.0.1"
DATABASE = "servicebus.db"
TICK_SECONDS = 0.02
FORGET_EVERY_SECONDS = 60.0

log = logging.getLogger(__name__)


class Door(asyncio.Protocol):
    """Tells by the first byte whether a client speaks HTTP or AMQP; one port serves both."""

    def __init__(self, amqp: Callable[[], asyncio.Protocol], http: Callable[[], asyncio.Protocol]) -> None:
        self._amqp = amqp
        self._http = http
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        assert self._transport is not None
        protocol = self._amqp() if data.startswith(b"A") else self._http()
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(data)


class Emulator:
    """`run` returns once stopped, and raises what made it impossible to go on."""

    def __init__(self, *, directory: Path, definitions: Definitions) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._definitions = definitions
        self._database = open_database(directory / DATABASE)
        self._turn = Turn(self._database, self._soon)
        self._dispatch = Dispatch(self._turn)
        self._broker = Broker(
            store=Store(self._database),
            turn=self._turn,
            queues=definitions.queues,
            clock=lambda: int(time.time() * 1000),
            on_ready=self._dispatch.wake,
        )
        self._dispatch.serve(self._broker)
        self._connections: set[Connection] = set()
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self) -> None:
        if not self._stopped.done():
            self._stopped.set_result(None)

    async def run(self, port: int) -> None:
        try:
            self._broker.check_definitions()
            server = await asyncio.get_running_loop().create_server(self._door, HOST, port)
            log.info("servicebus.ready port=%d", server.sockets[0].getsockname()[1])
            await self._serve(server)
        finally:
            self._database.close()

    async def _serve(self, server: asyncio.Server) -> None:
        ticking = asyncio.create_task(self._tick())
        try:
            await self._stopped
            await self._say_goodbye()
        finally:
            ticking.cancel()
            server.close()

    async def _say_goodbye(self) -> None:
        self._turn.finish()
        for connection in list(self._connections):
            connection.shut_down()
        # What the loop still has to do for this turn and these sockets, it does before the database closes.
        await asyncio.sleep(0)

    async def _tick(self) -> None:
        forget_at = 0.0
        try:
            while True:
                self._broker.run_due()
                if time.monotonic() >= forget_at:
                    forget_at = time.monotonic() + FORGET_EVERY_SECONDS
                    self._broker.forget_seen()
                await asyncio.sleep(TICK_SECONDS)
        except Exception as exc:
            log.exception("servicebus.clock_stopped")
            self._fail(exc)

    def _soon(self, action: Action) -> None:
        asyncio.get_running_loop().call_soon(self._guarded, action)

    def _guarded(self, action: Action) -> None:
        try:
            action()
        except Exception as exc:
            # Half a turn cannot be mended in memory; the file is whole, and a restart begins from it.
            log.exception("servicebus.turn_failed")
            self._fail(exc)

    def _fail(self, exc: Exception) -> None:
        if not self._stopped.done():
            self._stopped.set_exception(exc)

    def _door(self) -> Door:
        return Door(self._new_connection, lambda: CountsConnection(ShowCounts(self._broker)))

    def _new_connection(self) -> Connection:
        directory = Directory(broker=self._broker, policies=self._definitions.policies, clock=time.time)
        return Connection(
            open_session=partial(self._open_session, directory), fail=self._fail, peers=self._connections
        )

    def _open_session(self, directory: Directory, wire: Wire, channel: int, begin: Begin) -> Session:
        return Session(
            wire=wire,
            channel=channel,
            begin=begin,
            directory=directory,
            broker=self._broker,
            dispatch=self._dispatch,
            turn=self._turn,
        )

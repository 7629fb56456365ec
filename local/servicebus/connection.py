"""One client's socket: headers, SASL, frames to their sessions. Who the client is, `$cbs` finds out later."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable

from local.servicebus.amqp import outcomes
from local.servicebus.amqp.constructors import SYMBOL_8
from local.servicebus.amqp.frames import AMQP_HEADER, HEARTBEAT, SASL_HEADER, Frame, FrameReader, write_frame
from local.servicebus.amqp.outcomes import Problem
from local.servicebus.amqp.performatives import (
    Begin,
    Close,
    End,
    Open,
    Performative,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
)
from local.servicebus.amqp.values import Array, Symbol, UByte, UInt, UShort
from local.servicebus.outbound import Wire
from local.servicebus.session import Session

MAX_FRAME_SIZE = 65536
SMALLEST_FRAME_LIMIT = 512
CHANNEL_MAX = UShort(4999)
MECHANISMS = Array(SYMBOL_8, (Symbol("ANONYMOUS"), Symbol("MSSBCBS")))

log = logging.getLogger(__name__)

type OpenSession = Callable[[Wire, int, Begin], Session]


class Connection(asyncio.Protocol):
    """`fail` ends the whole emulator: without its database it must not go on answering.

    It is in `peers` for as long as it is connected.
    """

    def __init__(
        self, *, open_session: OpenSession, fail: Callable[[Exception], None], peers: set[Connection]
    ) -> None:
        self._open_session = open_session
        self._fail = fail
        self._peers = peers
        self._reader = FrameReader(max_frame_size=MAX_FRAME_SIZE)
        self._expects_header = True
        self._sessions: dict[int, Session] = {}
        self._transport: asyncio.Transport | None = None
        self._heartbeat: asyncio.TimerHandle | None = None
        self._peer_max_frame_size = SMALLEST_FRAME_LIMIT
        self._is_congested = False

    @property
    def peer_max_frame_size(self) -> int:
        return self._peer_max_frame_size

    @property
    def is_congested(self) -> bool:
        return self._is_congested

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._peers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._peers.discard(self)
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def pause_writing(self) -> None:
        self._is_congested = True

    def resume_writing(self) -> None:
        self._is_congested = False
        for session in self._sessions.values():
            session.look_again()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        try:
            while self._is_open() and self._step():
                pass
        except sqlite3.Error as exc:
            self._fail(exc)
        except Exception:
            # One client that talks nonsense must not take the others with it.
            log.exception("servicebus.connection_dropped")
            self._hang_up()

    def write(self, data: bytes) -> None:
        if self._transport is not None and self._is_open():
            self._transport.write(data)

    def shut_down(self) -> None:
        """Tell the client that it may come back, and hang up."""
        problem = Problem(Symbol("amqp:connection:forced"), "The emulator is stopping.")
        self._send(0, Close(outcomes.error(problem)))
        self._hang_up()

    def _is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def _step(self) -> bool:
        """Whether there was a whole header or frame to act on."""
        if self._expects_header:
            header = self._reader.header()
            if header is not None:
                self._on_header(header)
            return header is not None
        frame = self._reader.frame()
        if frame is not None:
            self._on_frame(frame)
        return frame is not None

    def _on_header(self, header: bytes) -> None:
        self._expects_header = False
        if header == SASL_HEADER:
            self.write(SASL_HEADER)
            self._send(0, SaslMechanisms(MECHANISMS))
            return
        self.write(AMQP_HEADER)
        if header != AMQP_HEADER:
            # AMQP's way to say which protocol would have been welcome.
            self._hang_up()

    def _on_frame(self, frame: Frame) -> None:
        match frame.performative:
            case None:
                pass
            case SaslInit():
                self._send(0, SaslOutcome(UByte(0)))
                self._expects_header = True
            case Open():
                self._on_open(frame.performative)
            case Begin():
                self._sessions[frame.channel] = self._open_session(self, frame.channel, frame.performative)
            case End():
                self._on_end(frame.channel)
            case Close():
                self._send(0, Close())
                self._hang_up()
            case performative:
                self._pass_on(frame.channel, performative, frame.payload)

    def _on_open(self, opened: Open) -> None:
        agreed = min(opened.max_frame_size or MAX_FRAME_SIZE, MAX_FRAME_SIZE)
        self._peer_max_frame_size = max(agreed, SMALLEST_FRAME_LIMIT)
        self._send(
            0, Open("postern-servicebus", opened.hostname, UInt(MAX_FRAME_SIZE), channel_max=CHANNEL_MAX)
        )
        if opened.idle_timeout:
            self._beat(opened.idle_timeout / 2000)

    def _beat(self, every: float) -> None:
        self.write(HEARTBEAT)
        self._heartbeat = asyncio.get_running_loop().call_later(every, self._beat, every)

    def _on_end(self, channel: int) -> None:
        session = self._sessions.pop(channel, None)
        if session is not None:
            session.close()
        self._send(channel, End())

    def _pass_on(self, channel: int, performative: Performative, payload: bytes) -> None:
        # The SDK detaches its links after it has ended their session.
        session = self._sessions.get(channel)
        if session is not None:
            session.handle(performative, payload)

    def _send(self, channel: int, performative: Performative) -> None:
        self.write(write_frame(channel, performative))

    def _hang_up(self) -> None:
        if self._transport is not None:
            self._transport.close()

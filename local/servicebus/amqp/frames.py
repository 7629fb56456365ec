"""Frames: a length, a channel, one performative and the bytes of a message behind it."""

import struct
from typing import Any, NamedTuple, cast

from local.servicebus.amqp.decode import decode
from local.servicebus.amqp.encode import encode
from local.servicebus.amqp.performatives import (
    CODES,
    KINDS,
    Performative,
    SaslInit,
    SaslMechanisms,
    SaslOutcome,
)
from local.servicebus.amqp.values import Described, Malformed

AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
HEARTBEAT = b"\x00\x00\x00\x08\x02\x00\x00\x00"

PREFIX = struct.Struct(">IBBH")
DATA_OFFSET_WORDS = 2
SASL = (SaslMechanisms, SaslInit, SaslOutcome)


class Frame(NamedTuple):
    """`performative` is None for a heartbeat."""

    channel: int
    performative: Performative | None
    payload: bytes


class FrameReader:
    """Cuts what arrives into protocol headers and frames, in whatever pieces it comes."""

    def __init__(self, *, max_frame_size: int) -> None:
        self._buffer = bytearray()
        self._max_frame_size = max_frame_size

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def header(self) -> bytes | None:
        """The next eight bytes, or None until they are here."""
        return self._cut(len(AMQP_HEADER))

    def frame(self) -> Frame | None:
        """The next frame, or None until it is here; `Malformed` for one larger than was agreed."""
        if len(self._buffer) < PREFIX.size:
            return None
        size = PREFIX.unpack_from(self._buffer)[0]
        if not PREFIX.size <= size <= self._max_frame_size:
            raise Malformed(f"a frame of {size} bytes; at most {self._max_frame_size} were agreed")
        raw = self._cut(size)
        return None if raw is None else read_frame(raw)

    def _cut(self, size: int) -> bytes | None:
        if len(self._buffer) < size:
            return None
        raw = bytes(self._buffer[:size])
        del self._buffer[:size]
        return raw


def read_frame(raw: bytes) -> Frame:
    _, offset, _, channel = PREFIX.unpack_from(raw)
    if 4 * offset >= len(raw):
        return Frame(channel, None, b"")
    described, end = decode(raw, 4 * offset)
    return Frame(channel, _performative(described), raw[end:])


def _performative(described: Any) -> Performative:
    if not isinstance(described, Described) or described.descriptor not in KINDS:
        raise Malformed("a frame without a performative")
    kind: Any = KINDS[described.descriptor]
    try:
        return cast("Performative", kind(*described.value))
    except TypeError as exc:
        raise Malformed(f"{kind.__name__.lower()} with {len(described.value)} fields") from exc


def write_frame(channel: int, performative: Performative, payload: bytes = b"") -> bytes:
    fields = list(performative)
    while fields and fields[-1] is None:
        fields.pop()
    body = encode(Described(CODES[type(performative)], fields))
    kind = 1 if isinstance(performative, SASL) else 0
    size = PREFIX.size + len(body) + len(payload)
    return PREFIX.pack(size, DATA_OFFSET_WORDS, kind, channel) + body + payload

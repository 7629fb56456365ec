"""What the two ends of a connection say to each other, as named fields in wire order."""

from types import MappingProxyType
from typing import Any, NamedTuple

from local.servicebus.amqp.values import Described, Symbol, UByte, UInt, ULong, UShort


class Open(NamedTuple):
    container_id: str
    hostname: str | None = None
    max_frame_size: UInt | None = None
    channel_max: UShort | None = None
    idle_timeout: UInt | None = None
    outgoing_locales: Any = None
    incoming_locales: Any = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: dict[Symbol, Any] | None = None


class Begin(NamedTuple):
    remote_channel: UShort | None
    next_outgoing_id: UInt
    incoming_window: UInt
    outgoing_window: UInt
    handle_max: UInt | None = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: dict[Symbol, Any] | None = None


class Attach(NamedTuple):
    """`role` is that of the end that speaks, True for a receiver; send settle mode 1 settles in advance."""

    name: str
    handle: UInt
    role: bool
    send_settle_mode: UByte | None = None
    receive_settle_mode: UByte | None = None
    source: Described | None = None
    target: Described | None = None
    unsettled: Any = None
    incomplete_unsettled: bool | None = None
    initial_delivery_count: UInt | None = None
    max_message_size: ULong | None = None
    offered_capabilities: Any = None
    desired_capabilities: Any = None
    properties: dict[Symbol, Any] | None = None


class Flow(NamedTuple):
    next_incoming_id: UInt | None
    incoming_window: UInt
    next_outgoing_id: UInt
    outgoing_window: UInt
    handle: UInt | None = None
    delivery_count: UInt | None = None
    link_credit: UInt | None = None
    available: UInt | None = None
    drain: bool | None = None
    echo: bool | None = None
    properties: dict[Symbol, Any] | None = None


class Transfer(NamedTuple):
    handle: UInt
    delivery_id: UInt | None = None
    delivery_tag: bytes | None = None
    message_format: UInt | None = None
    settled: bool | None = None
    more: bool | None = None
    receive_settle_mode: UByte | None = None
    state: Described | None = None
    resume: bool | None = None
    aborted: bool | None = None
    batchable: bool | None = None


class Disposition(NamedTuple):
    """`role` is that of the end that speaks: True for the receiver of the deliveries."""

    role: bool
    first: UInt
    last: UInt | None = None
    settled: bool | None = None
    state: Described | None = None
    batchable: bool | None = None


class Detach(NamedTuple):
    handle: UInt
    closed: bool | None = None
    error: Described | None = None


class End(NamedTuple):
    error: Described | None = None


class Close(NamedTuple):
    error: Described | None = None


class SaslMechanisms(NamedTuple):
    mechanisms: Any


class SaslInit(NamedTuple):
    mechanism: Symbol
    initial_response: bytes | None = None
    hostname: str | None = None


class SaslOutcome(NamedTuple):
    """`code` 0 is yes."""

    code: UByte
    additional_data: bytes | None = None


type Performative = (
    Open
    | Begin
    | Attach
    | Flow
    | Transfer
    | Disposition
    | Detach
    | End
    | Close
    | SaslMechanisms
    | SaslInit
    | SaslOutcome
)

CODES: MappingProxyType[type, ULong] = MappingProxyType(
    {
        Open: ULong(0x10),
        Begin: ULong(0x11),
        Attach: ULong(0x12),
        Flow: ULong(0x13),
        Transfer: ULong(0x14),
        Disposition: ULong(0x15),
        Detach: ULong(0x16),
        End: ULong(0x17),
        Close: ULong(0x18),
        SaslMechanisms: ULong(0x40),
        SaslInit: ULong(0x41),
        SaslOutcome: ULong(0x44),
    }
)
KINDS: MappingProxyType[int, type] = MappingProxyType({int(code): kind for kind, code in CODES.items()})

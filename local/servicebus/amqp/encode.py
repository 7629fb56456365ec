"""Python values to AMQP bytes, always in the smallest form."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from uuid import UUID

from local.servicebus.amqp import constructors as c
from local.servicebus.amqp.values import (
    Array,
    Byte,
    Described,
    Int,
    Opaque,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)

type Write = Callable[[Any, bytearray], None]


def encode(value: object) -> bytes:
    out = bytearray()
    write(value, out)
    return bytes(out)


def write(value: object, out: bytearray) -> None:
    """Append `value` to `out`; named tuples are lists. TypeError for a type that AMQP has no word for."""
    kind = tuple if isinstance(value, tuple) else type(value)
    writer = WRITERS.get(kind)
    if writer is None:
        raise TypeError(f"AMQP has no type for {kind.__name__}")
    writer(value, out)


def _write_null(_: None, out: bytearray) -> None:
    out.append(c.NULL)


def _write_boolean(value: bool, out: bytearray) -> None:
    out.append(c.TRUE if value else c.FALSE)


def _fixed(code: int) -> Write:
    layout, _ = c.FIXED[code]

    def write_fixed(value: int | float, out: bytearray) -> None:
        out.append(code)
        out += layout.pack(value)

    return write_fixed


def _unsigned(zero: int, small: int, large: int) -> Write:
    write_small, write_large = _fixed(small), _fixed(large)

    def write_unsigned(value: int, out: bytearray) -> None:
        if value == 0:
            out.append(zero)
        else:
            (write_small if value < 0x100 else write_large)(value, out)

    return write_unsigned


def _signed(small: int, large: int) -> Write:
    write_small, write_large = _fixed(small), _fixed(large)

    def write_signed(value: int, out: bytearray) -> None:
        (write_small if -0x80 <= value < 0x80 else write_large)(value, out)

    return write_signed


def _variable(small: int, large: int) -> Write:
    _, _, to_bytes = c.VARIABLE[small]

    def write_variable(value: object, out: bytearray) -> None:
        raw = to_bytes(value)
        if len(raw) < 0x100:
            out += bytes((small, len(raw)))
        else:
            out.append(large)
            out += c.COUNT.pack(len(raw))
        out += raw

    return write_variable


def _write_uuid(value: UUID, out: bytearray) -> None:
    out.append(c.UUID_16)
    out += value.bytes


def _write_compound(small: int, large: int, count: int, body: bytearray, out: bytearray) -> None:
    if len(body) < 0xFF and count < 0x100:
        out += bytes((small, len(body) + 1, count))
    else:
        out.append(large)
        out += c.SIZE_AND_COUNT.pack(len(body) + 4, count)
    out += body


def _write_list(value: list[object] | tuple[object, ...], out: bytearray) -> None:
    if not value:
        out.append(c.LIST_0)
        return
    body = bytearray()
    for item in value:
        write(item, body)
    _write_compound(c.LIST_8, c.LIST_32, len(value), body, out)


def _write_map(value: dict[object, object], out: bytearray) -> None:
    body = bytearray()
    for key, item in value.items():
        write(key, body)
        write(item, body)
    _write_compound(c.MAP_8, c.MAP_32, 2 * len(value), body, out)


def _write_described(value: Described, out: bytearray) -> None:
    out.append(c.DESCRIBED)
    write(value.descriptor, out)
    write(value.value, out)


def _write_array(value: Array, out: bytearray) -> None:
    body = bytearray((value.code,))
    for item in value.items:
        _write_element(value.code, item, body)
    out.append(c.ARRAY_32)
    out += c.SIZE_AND_COUNT.pack(len(body) + 4, len(value.items))
    out += body


def _write_element(code: int, item: Any, body: bytearray) -> None:
    if code in c.FIXED:
        body += c.FIXED[code][0].pack(item)
    elif code == c.UUID_16:
        body += item.bytes
    elif code in c.VARIABLE:
        large, _, to_bytes = c.VARIABLE[code]
        raw = to_bytes(item)
        body += c.COUNT.pack(len(raw)) if large else bytes((len(raw),))
        body += raw
    else:
        raise TypeError(f"arrays of constructor 0x{code:02x} are not written")


def _write_opaque(value: Opaque, out: bytearray) -> None:
    out += value.encoded


WRITERS: MappingProxyType[type, Write] = MappingProxyType(
    {
        type(None): _write_null,
        bool: _write_boolean,
        UByte: _fixed(0x50),
        UShort: _fixed(0x60),
        UInt: _unsigned(c.UINT_0, 0x52, 0x70),
        ULong: _unsigned(c.ULONG_0, 0x53, 0x80),
        Byte: _fixed(0x51),
        Short: _fixed(0x61),
        Int: _signed(0x54, 0x71),
        int: _signed(0x55, c.LONG),
        float: _fixed(0x82),
        Timestamp: _fixed(c.TIMESTAMP),
        UUID: _write_uuid,
        bytes: _variable(c.BINARY_8, c.BINARY_32),
        str: _variable(c.STRING_8, c.STRING_32),
        Symbol: _variable(c.SYMBOL_8, c.SYMBOL_32),
        list: _write_list,
        tuple: _write_list,
        dict: _write_map,
        Described: _write_described,
        Array: _write_array,
        Opaque: _write_opaque,
    }
)

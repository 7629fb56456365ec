"""AMQP bytes to Python values. Every reader takes the buffer and a position and returns the next position."""

import struct
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from local.servicebus.amqp import constructors as c
from local.servicebus.amqp.values import Array, Described, Malformed, Opaque, UInt, ULong

type Read = Callable[[bytes, int], tuple[Any, int]]

# What broken bytes make the readers below stumble over.
STUMBLES = (struct.error, IndexError, KeyError, ValueError, RecursionError, TypeError)


def decode(buffer: bytes, position: int = 0) -> tuple[Any, int]:
    """One value and the position after it; `Malformed` if there is none or it is cut short."""
    try:
        value, after = read(buffer, position)
    except STUMBLES as exc:
        raise Malformed(f"no AMQP value at byte {position} of {len(buffer)}: {exc!r}") from exc
    if after > len(buffer):
        raise Malformed(f"the AMQP value at byte {position} ends at {after}, the bytes at {len(buffer)}")
    return value, after


def skip(buffer: bytes, position: int) -> int:
    """The position after the value at `position`, which is not decoded and need not be whole."""
    try:
        return _skip(buffer, position)
    except STUMBLES as exc:
        raise Malformed(f"no AMQP value at byte {position} of {len(buffer)}: {exc!r}") from exc


def read(buffer: bytes, position: int) -> tuple[Any, int]:
    return READERS[buffer[position]](buffer, position + 1)


def _skip(buffer: bytes, position: int) -> int:
    code = buffer[position]
    if code == c.DESCRIBED:
        return _skip(buffer, _skip(buffer, position + 1))
    family = code >> 4
    if family in c.WIDTHS:
        return position + 1 + c.WIDTHS[family]
    if family in {0xA, 0xC, 0xE}:
        return position + 2 + buffer[position + 1]
    return position + 5 + int(c.COUNT.unpack_from(buffer, position + 1)[0])


def _constant(value: Any) -> Read:
    return lambda _, position: (value, position)


def _fixed(code: int) -> Read:
    layout, python_type = c.FIXED[code]

    def read_fixed(buffer: bytes, position: int) -> tuple[Any, int]:
        return python_type(layout.unpack_from(buffer, position)[0]), position + layout.size

    return read_fixed


def _variable(code: int) -> Read:
    large, to_value, _ = c.VARIABLE[code]

    def read_variable(buffer: bytes, position: int) -> tuple[Any, int]:
        start = position + (4 if large else 1)
        end = start + (c.COUNT.unpack_from(buffer, position)[0] if large else buffer[position])
        return to_value(buffer[start:end]), end

    return read_variable


def _read_uuid(buffer: bytes, position: int) -> tuple[Any, int]:
    return c.uuid_from(buffer[position : position + 16]), position + 16


def _opaque(code: int) -> Read:
    width = c.WIDTHS[code >> 4]
    return lambda buffer, position: (Opaque(buffer[position - 1 : position + width]), position + width)


def _size_and_count(buffer: bytes, position: int, *, large: bool) -> tuple[int, int, int]:
    """(position after the compound, number of items, position of the first)."""
    if large:
        size, count = c.SIZE_AND_COUNT.unpack_from(buffer, position)
        return position + 4 + size, count, position + 8
    return position + 1 + buffer[position], buffer[position + 1], position + 2


def _list(*, large: bool) -> Read:
    def read_list(buffer: bytes, position: int) -> tuple[Any, int]:
        end, count, position = _size_and_count(buffer, position, large=large)
        items = []
        for _ in range(count):
            item, position = read(buffer, position)
            items.append(item)
        return items, end

    return read_list


def _map(*, large: bool) -> Read:
    def read_map(buffer: bytes, position: int) -> tuple[Any, int]:
        end, count, position = _size_and_count(buffer, position, large=large)
        entries = {}
        for _ in range(count // 2):
            key, position = read(buffer, position)
            entries[key], position = read(buffer, position)
        return entries, end

    return read_map


def _array(*, large: bool) -> Read:
    def read_array(buffer: bytes, position: int) -> tuple[Any, int]:
        end, count, position = _size_and_count(buffer, position, large=large)
        code = buffer[position]
        if count and code not in ELEMENT_READERS:
            # Zero-width elements would make a forged count a loop without end.
            raise Malformed(f"arrays of constructor 0x{code:02x} are not read")
        items = []
        position += 1
        for _ in range(count):
            item, position = ELEMENT_READERS[code](buffer, position)
            items.append(item)
        return Array(code, tuple(items)), end

    return read_array


def _read_described(buffer: bytes, position: int) -> tuple[Any, int]:
    descriptor, position = read(buffer, position)
    value, position = read(buffer, position)
    return Described(descriptor, value), position


ELEMENT_READERS: MappingProxyType[int, Read] = MappingProxyType(
    {
        **{code: _fixed(code) for code in c.FIXED},
        **{code: _variable(code) for code in c.VARIABLE},
        c.UUID_16: _read_uuid,
    }
)

READERS: MappingProxyType[int, Read] = MappingProxyType(
    {
        **ELEMENT_READERS,
        **{code: _opaque(code) for code in c.OPAQUE},
        c.DESCRIBED: _read_described,
        c.NULL: _constant(None),
        c.TRUE: _constant(True),
        c.FALSE: _constant(False),
        c.UINT_0: _constant(UInt(0)),
        c.ULONG_0: _constant(ULong(0)),
        c.LIST_0: lambda _, position: ([], position),
        c.LIST_8: _list(large=False),
        c.LIST_32: _list(large=True),
        c.MAP_8: _map(large=False),
        c.MAP_32: _map(large=True),
        c.ARRAY_8: _array(large=False),
        c.ARRAY_32: _array(large=True),
    }
)

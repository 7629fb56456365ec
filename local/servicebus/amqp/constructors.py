"""The constructor bytes of AMQP 1.0 that reading and writing share."""

import struct
from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from uuid import UUID

from local.servicebus.amqp.values import Byte, Int, Short, Symbol, Timestamp, UByte, UInt, ULong, UShort

NULL, TRUE, FALSE, UINT_0, ULONG_0, LIST_0 = 0x40, 0x41, 0x42, 0x43, 0x44, 0x45
DESCRIBED = 0x00
UUID_16 = 0x98
BINARY_8, STRING_8, SYMBOL_8 = 0xA0, 0xA1, 0xA3
BINARY_32, STRING_32, SYMBOL_32 = 0xB0, 0xB1, 0xB3
LIST_8, MAP_8, LIST_32, MAP_32 = 0xC0, 0xC1, 0xD0, 0xD1
ARRAY_8, ARRAY_32 = 0xE0, 0xF0
LONG, TIMESTAMP = 0x81, 0x83

COUNT = struct.Struct(">I")
SIZE_AND_COUNT = struct.Struct(">II")

# constructor -> (layout, Python type)
FIXED: MappingProxyType[int, tuple[struct.Struct, Callable[[Any], Any]]] = MappingProxyType(
    {
        0x50: (struct.Struct(">B"), UByte),
        0x51: (struct.Struct(">b"), Byte),
        0x52: (struct.Struct(">B"), UInt),
        0x53: (struct.Struct(">B"), ULong),
        0x54: (struct.Struct(">b"), Int),
        0x55: (struct.Struct(">b"), int),
        0x56: (struct.Struct(">?"), bool),
        0x60: (struct.Struct(">H"), UShort),
        0x61: (struct.Struct(">h"), Short),
        0x70: (struct.Struct(">I"), UInt),
        0x71: (struct.Struct(">i"), Int),
        0x80: (struct.Struct(">Q"), ULong),
        LONG: (struct.Struct(">q"), int),
        0x82: (struct.Struct(">d"), float),
        TIMESTAMP: (struct.Struct(">q"), Timestamp),
    }
)

# constructor -> (large, text to Python value, Python value to bytes)
VARIABLE: MappingProxyType[int, tuple[bool, Callable[[bytes], Any], Callable[[Any], bytes]]] = (
    MappingProxyType(
        {
            BINARY_8: (False, bytes, bytes),
            BINARY_32: (True, bytes, bytes),
            STRING_8: (False, bytes.decode, str.encode),
            STRING_32: (True, bytes.decode, str.encode),
            SYMBOL_8: (False, lambda raw: Symbol(raw.decode("ascii")), str.encode),
            SYMBOL_32: (True, lambda raw: Symbol(raw.decode("ascii")), str.encode),
        }
    )
)

# float, char, decimal32, decimal64, decimal128
OPAQUE = frozenset({0x72, 0x73, 0x74, 0x84, 0x94})

# Bytes that follow a fixed-width constructor, by its upper four bits.
WIDTHS = MappingProxyType({0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16})


def uuid_from(raw: bytes) -> UUID:
    return UUID(bytes=raw)

"""AMQP's types where Python has no equal; a bare `int` is AMQP's long, a bare `float` its double."""

from dataclasses import dataclass
from typing import Any


class Symbol(str):
    """ASCII text from a fixed vocabulary: conditions, annotation keys."""

    __slots__ = ()


class UByte(int):
    __slots__ = ()


class UShort(int):
    __slots__ = ()


class UInt(int):
    __slots__ = ()


class ULong(int):
    __slots__ = ()


class Byte(int):
    __slots__ = ()


class Short(int):
    __slots__ = ()


class Int(int):
    __slots__ = ()


class Timestamp(int):
    """Milliseconds since 1970-01-01 UTC."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Described:
    """A value under a descriptor; `descriptor` is a `ULong` code or a `Symbol` name."""

    descriptor: Any
    value: Any


@dataclass(frozen=True, slots=True)
class Array:
    """Elements that share the constructor `code`; only undescribed elements are read or written."""

    code: int
    items: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type nobody here looks into (decimals, chars, single floats), constructor included."""

    encoded: bytes


class Malformed(ValueError):
    """The bytes are not AMQP 1.0: the connection they came over cannot be understood any further."""

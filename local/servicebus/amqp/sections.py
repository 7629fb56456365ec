"""A message on the wire is a run of sections; most of them pass through unread and unchanged."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from local.servicebus.amqp.decode import decode, skip
from local.servicebus.amqp.encode import encode
from local.servicebus.amqp.values import Described, Malformed, UByte, UInt, ULong

HEADER, DELIVERY_ANNOTATIONS, MESSAGE_ANNOTATIONS = ULong(0x70), ULong(0x71), ULong(0x72)
PROPERTIES, APPLICATION_PROPERTIES = ULong(0x73), ULong(0x74)
DATA, SEQUENCE, VALUE, FOOTER = ULong(0x75), ULong(0x76), ULong(0x77), ULong(0x78)
KNOWN = frozenset({0x70, 0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78})


class Section(NamedTuple):
    """`encoded` is the whole section, `content` the part behind its descriptor."""

    code: int
    encoded: bytes
    content: bytes

    def value(self) -> Any:
        return decode(self.content)[0]


class Header(NamedTuple):
    """`time_to_live` is in milliseconds; `delivery_count` counts earlier failures."""

    durable: bool | None = None
    priority: UByte | None = None
    time_to_live: UInt | None = None
    first_acquirer: bool | None = None
    delivery_count: UInt | None = None


class Properties(NamedTuple):
    message_id: Any = None
    user_id: bytes | None = None
    to: Any = None
    subject: str | None = None
    reply_to: Any = None
    correlation_id: Any = None
    content_type: Any = None
    content_encoding: Any = None
    absolute_expiry_time: Any = None
    creation_time: Any = None
    group_id: str | None = None
    group_sequence: UInt | None = None
    reply_to_group_id: str | None = None


def sections(message: bytes) -> Iterator[Section]:
    position = 0
    while position < len(message):
        if message[position] != 0:
            raise Malformed(f"byte {position} of a message starts no section")
        code, content_at = decode(message, position + 1)
        end = skip(message, content_at)
        if code not in KNOWN or end > len(message):
            raise Malformed(f"section {code!r} at byte {position} is unknown or cut short")
        yield Section(code, message[position:end], message[content_at:end])
        position = end


def section(code: ULong, value: object) -> bytes:
    return encode(Described(code, value))


def with_application_properties(bare: bytes, extra: Mapping[str, str]) -> bytes:
    """`bare` (properties to footer) with `extra` added or replaced; every other section is left as it is."""
    before, given, after = b"", {}, b""
    for part in sections(bare):
        if part.code == APPLICATION_PROPERTIES:
            given = part.value()
        elif part.code == PROPERTIES:
            before += part.encoded
        else:
            after += part.encoded
    return before + section(APPLICATION_PROPERTIES, {**given, **extra}) + after

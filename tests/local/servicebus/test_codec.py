"""The codec against itself, and against the one inside the SDK, which is what it must agree with."""

from typing import Any
from uuid import UUID

import pytest
from azure.servicebus._pyamqp._decode import decode_payload
from azure.servicebus._pyamqp._encode import encode_payload, encode_value
from azure.servicebus._pyamqp.message import Header, Message, Properties
from hypothesis import given, settings
from hypothesis import strategies as some

from local.servicebus.amqp import sections
from local.servicebus.amqp.constructors import LONG, STRING_8, SYMBOL_8, TIMESTAMP, UUID_16
from local.servicebus.amqp.decode import decode, skip
from local.servicebus.amqp.encode import encode
from local.servicebus.amqp.frames import FrameReader, write_frame
from local.servicebus.amqp.performatives import Attach, Open, Transfer
from local.servicebus.amqp.values import (
    Array,
    Byte,
    Described,
    Int,
    Malformed,
    Opaque,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)

ASCII = some.text(some.characters(min_codepoint=32, max_codepoint=126), max_size=300)
NUMBERS = some.one_of(
    some.integers(0, 2**8 - 1).map(UByte),
    some.integers(0, 2**16 - 1).map(UShort),
    some.integers(0, 2**32 - 1).map(UInt),
    some.integers(0, 2**64 - 1).map(ULong),
    some.integers(-(2**7), 2**7 - 1).map(Byte),
    some.integers(-(2**15), 2**15 - 1).map(Short),
    some.integers(-(2**31), 2**31 - 1).map(Int),
    some.integers(-(2**63), 2**63 - 1),
    some.integers(-(2**63), 2**63 - 1).map(Timestamp),
    some.floats(allow_nan=False),
)
SCALARS = some.one_of(
    some.none(),
    some.booleans(),
    NUMBERS,
    some.text(max_size=300),
    some.binary(max_size=300),
    some.uuids(),
    ASCII.map(Symbol),
)
ARRAYS = some.one_of(
    some.lists(some.integers(-(2**63), 2**63 - 1)).map(lambda items: Array(LONG, tuple(items))),
    some.lists(some.uuids()).map(lambda items: Array(UUID_16, tuple(items))),
    some.lists(some.text(max_size=60)).map(lambda items: Array(STRING_8, tuple(items))),
)
VALUES = some.recursive(
    some.one_of(SCALARS, ARRAYS),
    lambda inner: some.one_of(
        some.lists(inner, max_size=5),
        some.dictionaries(some.text(max_size=20), inner, max_size=5),
        some.builds(Described, some.integers(0, 255).map(ULong), inner),
    ),
    max_leaves=12,
)


def kinds(value: Any) -> Any:
    """The value with every type spelled out, since `UInt(1) == Int(1)`."""
    match value:
        case Described(descriptor, inner):
            return "described", kinds(descriptor), kinds(inner)
        case Array(code, items):
            return "array", code, [kinds(item) for item in items]
        case list():
            return [kinds(item) for item in value]
        case dict():
            return {key: kinds(item) for key, item in value.items()}
        case _:
            return type(value), value


@given(VALUES)
@settings(max_examples=80, deadline=None)
def test_what_is_written_is_read_back_with_the_same_types(value: Any) -> None:
    encoded = encode(value)

    decoded, end = decode(encoded)

    assert kinds(decoded) == kinds(value)
    assert end == skip(encoded, 0) == len(encoded)


@given(VALUES, some.data())
@settings(max_examples=60, deadline=None)
def test_cut_short_is_malformed_and_never_another_error(value: Any, data: some.DataObject) -> None:
    encoded = encode(value)
    cut = data.draw(some.integers(0, len(encoded) - 1))

    with pytest.raises(Malformed):
        decode(encoded[:cut])


@given(some.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_a_value_or_malformed(raw: bytes) -> None:
    try:
        decode(raw)
    except Malformed:
        return


def test_types_that_nobody_reads_pass_through_as_they_are() -> None:
    for encoded in (b"\x72\x3f\x80\x00\x00", b"\x73\x00\x00\x00A", b"\x94" + bytes(16)):
        assert decode(encoded) == (Opaque(encoded), len(encoded))
        assert encode(Opaque(encoded)) == encoded


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        pytest.param({"TYPE": "UINT", "VALUE": 70000}, UInt(70000), id="uint"),
        pytest.param({"TYPE": "ULONG", "VALUE": 5}, ULong(5), id="ulong"),
        pytest.param({"TYPE": "UBYTE", "VALUE": 7}, UByte(7), id="ubyte"),
        pytest.param({"TYPE": "INT", "VALUE": -200}, Int(-200), id="int"),
        pytest.param({"TYPE": "LONG", "VALUE": -(2**40)}, -(2**40), id="long"),
        pytest.param(
            {"TYPE": "TIMESTAMP", "VALUE": 1_800_000_000_000}, Timestamp(1_800_000_000_000), id="time"
        ),
        pytest.param({"TYPE": "SYMBOL", "VALUE": b"amqp:not-found"}, Symbol("amqp:not-found"), id="symbol"),
        pytest.param("Straße" * 60, "Straße" * 60, id="string"),
        pytest.param(b"\x00" * 300, b"\x00" * 300, id="binary"),
        pytest.param(UUID(int=7), UUID(int=7), id="uuid"),
        pytest.param([1, None, True], [1, None, True], id="list"),
        pytest.param({"a": 1.5}, {"a": 1.5}, id="map"),
    ],
)
def test_the_sdk_writes_what_we_read(theirs: Any, ours: Any) -> None:
    encoded = bytearray()
    encode_value(encoded, theirs)

    assert decode(bytes(encoded))[0] == ours


def test_the_sdk_reads_the_messages_we_write() -> None:
    encoded = b"".join(
        (
            sections.section(sections.HEADER, sections.Header(durable=True, delivery_count=UInt(2))),
            sections.section(sections.MESSAGE_ANNOTATIONS, {Symbol("x-opt-sequence-number"): 2**40}),
            sections.section(sections.PROPERTIES, sections.Properties(message_id="m", correlation_id="c")),
            sections.section(sections.APPLICATION_PROPERTIES, {"tries": Int(3), "at": Timestamp(5)}),
            sections.section(sections.VALUE, {"locks": Array(TIMESTAMP, (Timestamp(1), Timestamp(2)))}),
        )
    )

    message = decode_payload(memoryview(encoded))

    assert message.header is not None
    assert message.properties is not None
    assert (message.header.durable, message.header.delivery_count) == (True, 2)
    assert message.message_annotations == {b"x-opt-sequence-number": 2**40}
    assert (message.properties.message_id, message.properties.correlation_id) == (b"m", b"c")
    assert message.application_properties == {b"tries": 3, b"at": 5}
    assert message.value == {b"locks": [1, 2]}


def test_adding_application_properties_leaves_every_other_section_as_it_was() -> None:
    bare = bytearray()
    theirs = Message(
        properties=Properties(message_id="m", subject="s"),
        application_properties={"kept": 1, "DeadLetterReason": "old"},
        data=[b"body"],
    )
    encode_payload(bare, theirs)

    message = decode_payload(
        memoryview(sections.with_application_properties(bytes(bare), {"DeadLetterReason": "new"}))
    )

    assert message.properties is not None
    assert (message.properties.message_id, message.properties.subject) == (b"m", b"s")
    assert message.application_properties == {b"kept": 1, b"DeadLetterReason": b"new"}
    assert message.data == [b"body"]


def test_sections_are_found_in_what_the_sdk_sends() -> None:
    encoded = bytearray()
    encode_payload(encoded, Message(header=Header(ttl=9), properties=Properties(message_id="m"), data=[b"x"]))

    codes = [part.code for part in sections.sections(bytes(encoded))]

    assert codes == [sections.HEADER, sections.PROPERTIES, sections.DATA]


def test_frames_are_cut_out_of_whatever_pieces_arrive() -> None:
    opened = Open("me", "host", UInt(65536))
    attached = Attach("link", UInt(0), role=True, source=Described(ULong(0x28), ["documents"]))
    stream = write_frame(0, opened) + write_frame(7, attached) + write_frame(7, Transfer(UInt(0)), b"message")
    reader = FrameReader(max_frame_size=65536)

    frames = []
    for position in range(len(stream)):
        reader.feed(stream[position : position + 1])
        if (frame := reader.frame()) is not None:
            frames.append(frame)

    assert [(frame.channel, frame.performative) for frame in frames] == [
        (0, opened),
        (7, attached),
        (7, Transfer(UInt(0))),
    ]
    assert frames[2].payload == b"message"


def test_a_frame_larger_than_agreed_is_malformed() -> None:
    reader = FrameReader(max_frame_size=512)
    reader.feed(b"\x7f\xff\xff\xff\x02\x00\x00\x00")

    with pytest.raises(Malformed, match="at most 512"):
        reader.frame()


def test_a_zero_width_array_cannot_make_the_reader_spin() -> None:
    forged = b"\xf0" + (9).to_bytes(4, "big") + (2**32 - 1).to_bytes(4, "big") + b"\x40"

    with pytest.raises(Malformed):
        decode(forged)


def test_symbols_in_arrays_keep_their_type() -> None:
    mechanisms = Array(SYMBOL_8, (Symbol("ANONYMOUS"),))

    assert kinds(decode(encode(mechanisms))[0]) == kinds(mechanisms)

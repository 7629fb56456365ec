"""Lines are the same however the stream was cut, and a hostile line costs no memory."""

import tracemalloc
from collections.abc import AsyncIterator
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from shared.wire.jsonl import BOM, Line, Splitter, join, split

BOUND = 12


def split_at_once(data: bytes) -> list[Line]:
    splitter = Splitter(BOUND)
    return splitter.feed(data) + splitter.finish()


def plainly(data: bytes) -> list[Line]:
    """The promise, spelled out without any streaming."""
    lines: list[Line] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        whole = raw.removeprefix(BOM) if number == 1 else raw
        if len(whole.removesuffix(b"\r")) > BOUND:
            lines.append((number, None))
        elif text := whole.strip(b" \t\r"):
            lines.append((number, text))
    return lines


fragments = st.sampled_from([b"\n", b"\r\n", b"\r", b" ", BOM, b"\xef", b"{}", b"abcdef", b"x" * 11, b"\x85"])
contents = st.lists(fragments, max_size=30).map(b"".join)


@given(contents)
def test_a_whole_text_splits_as_promised(data: bytes) -> None:
    assert split_at_once(data) == plainly(data)


@given(contents, st.lists(st.integers(0, 200), max_size=8))
def test_where_the_pieces_are_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    splitter = Splitter(BOUND)
    lines = [line for start, end in pairwise(edges) for line in splitter.feed(data[start:end])]
    assert lines + splitter.finish() == plainly(data)


def test_only_the_newline_ends_a_line() -> None:
    assert split_at_once("a\u2028b\x0bc".encode()) == [(1, "a\u2028b\x0bc".encode())]


def test_blank_lines_are_counted_and_left_out() -> None:
    assert split_at_once(BOM + b"\r\n{}\r\n\n  \n[]") == [(2, b"{}"), (5, b"[]")]


def test_a_line_may_be_exactly_as_long_as_the_bound() -> None:
    assert split_at_once(BOM + b"x" * BOUND + b"\r\n") == [(1, b"x" * BOUND)]
    assert split_at_once(b"x" * (BOUND + 1)) == [(1, None)]


async def test_a_stream_comes_in_lists_of_lines() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"n":1}\n{"n"'
        yield b":2}\n{}"

    assert [lines async for lines in split(pieces(), max_line_bytes=100)] == [
        [(1, b'{"n":1}')],
        [(2, b'{"n":2}')],
        [(3, b"{}")],
    ]


async def test_an_endless_line_is_reported_without_being_kept() -> None:
    piece = b"x" * (1 << 20)

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(64):
            yield piece
        yield b"\n{}\n"

    tracemalloc.start()
    lines = [line async for batch in split(pieces(), max_line_bytes=1 << 20) for line in batch]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lines == [(1, None), (2, b"{}")]
    assert peak < 6 << 20


async def test_a_piece_of_tiny_lines_does_not_blow_up_in_memory() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"{}\n" * 350_000

    tracemalloc.start()
    count = 0
    async for lines in split(pieces(), max_line_bytes=1 << 20):
        count += len(lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 350_000
    assert peak < 25 << 20


def test_pretty_printed_elements_become_one_line_each() -> None:
    elements = msgspec.json.decode(b'[{\n  "a": "x\\ny"\n}, 2]', type=list[msgspec.Raw])
    lines = b"".join(join(elements)).split(b"\n")
    assert [msgspec.json.decode(line) for line in lines if line] == [{"a": "x\ny"}, 2]

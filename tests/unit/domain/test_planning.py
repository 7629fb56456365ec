"""How requests are packed into chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.planning import Limits, Packer, vectors_of

requests = st.lists(st.tuples(st.integers(1, 100), st.integers(0, 50)), max_size=60)
limits = st.builds(
    Limits,
    requests=st.integers(1, 10),
    bytes=st.integers(100, 400),
    line_bytes=st.just(100),
    tokens=st.none() | st.integers(50, 200),
)
Packed = list[list[tuple[int, int]]]


def pack(limits: Limits, requests: list[tuple[int, int]]) -> Packed:
    packer, chunks = Packer(limits), Packed()
    for size, tokens in requests:
        if packer.starts_anew(size, tokens) or not chunks:
            chunks.append([])
        chunks[-1].append((size, tokens))
        assert (packer.requests, packer.bytes, packer.tokens) == _sums(chunks[-1])
    return chunks


def _sums(chunk: list[tuple[int, int]]) -> tuple[int, int, int]:
    return len(chunk), sum(size for size, _ in chunk), sum(tokens for _, tokens in chunk)


def _fits(limits: Limits, chunk: list[tuple[int, int]]) -> bool:
    count, size, tokens = _sums(chunk)
    within = limits.tokens is None or tokens <= limits.tokens
    return count <= limits.requests and size <= limits.bytes and within


@given(limits, requests)
def test_every_request_is_packed_once_in_order_and_no_chunk_exceeds_a_limit(
    limits: Limits, requests: list[tuple[int, int]]
) -> None:
    chunks = pack(limits, requests)

    assert [request for chunk in chunks for request in chunk] == requests
    assert all(chunks)
    assert all(_fits(limits, chunk) for chunk in chunks)


@given(limits, requests)
def test_a_chunk_is_closed_only_because_the_next_request_does_not_fit(
    limits: Limits, requests: list[tuple[int, int]]
) -> None:
    for chunk, following in pairwise(pack(limits, requests)):
        assert not _fits(limits, [*chunk, following[0]])


ROOMY = Limits(requests=100, bytes=1000, line_bytes=500, tokens=None)


@pytest.mark.parametrize(
    ("given_limits", "expected"),
    [
        ({"requests": None, "bytes_": None, "tokens": None}, ROOMY),
        ({"requests": 10, "bytes_": None, "tokens": None}, Limits(requests=10, bytes=1000, line_bytes=500)),
        ({"requests": 900, "bytes_": 9000, "tokens": None}, ROOMY),
        ({"requests": None, "bytes_": 200, "tokens": None}, Limits(requests=100, bytes=200, line_bytes=200)),
        (
            {"requests": None, "bytes_": None, "tokens": 7},
            Limits(requests=100, bytes=1000, line_bytes=500, tokens=7),
        ),
    ],
    ids=[
        "none set",
        "fewer requests",
        "looser ones count for nothing",
        "a line is no longer than a file",
        "quota",
    ],
)
def test_the_stricter_limit_counts(given_limits: dict[str, int | None], expected: Limits) -> None:
    assert ROOMY.lowered(**given_limits) == expected


def test_of_two_quotas_the_smaller_one_counts() -> None:
    limited = Limits(requests=1, bytes=1, line_bytes=1, tokens=50)

    assert limited.lowered(requests=None, bytes_=None, tokens=80).tokens == 50
    assert limited.lowered(requests=None, bytes_=None, tokens=20).tokens == 20


def test_requests_that_ask_for_many_vectors_fill_a_chunk_early() -> None:
    packer = Packer(Limits(requests=100, bytes=1000, line_bytes=100, vectors=5))

    opened = [packer.starts_anew(1, 0, vectors) for vectors in (2, 3, 1, 4, 1, 9)]

    assert opened == [False, False, True, False, True, True]


@pytest.mark.parametrize(
    ("given_input", "vectors"),
    [("a text", 1), (["a"], 1), (["a", "b"], 2), ([1, 2, 3], 1), ([[1, 2], [3]], 2), ([], 1), (None, 1)],
)
def test_vectors_are_counted_by_texts_and_arrays_of_tokens(given_input: object, vectors: int) -> None:
    assert vectors_of({"input": given_input}) == vectors

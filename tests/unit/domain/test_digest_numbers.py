"""A map that must behave as a dict does, in less memory."""

import hashlib
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.digest_numbers import DigestNumbers

# Few different ones, alike in their first and last bytes: they fight for the same slots.
_crowded = st.integers(0, 300).map(lambda n: b"\0" * 6 + n.to_bytes(2) + b"\0" * 8)
_digests = st.one_of(_crowded, st.binary(min_size=16, max_size=16))


@given(st.lists(st.tuples(_digests, st.integers(0, 2**40), st.booleans()), max_size=400))
def test_it_is_a_dict_of_digests(calls: list[tuple[bytes, int, bool]]) -> None:
    numbers, expected = DigestNumbers(), dict[bytes, int]()
    for digest, number, replace in calls:
        if replace:
            numbers.put(digest, number)
            expected[digest] = number
        else:
            assert numbers.first(digest, number) == expected.setdefault(digest, number)
    assert {digest: numbers.find(digest) for digest, _, _ in calls} == expected
    assert len(numbers) == len(expected)


def test_what_was_never_put_is_not_found() -> None:
    assert DigestNumbers().find(bytes(16)) is None


def test_a_digest_costs_less_than_a_hundred_bytes() -> None:
    count = 50_000
    digests = [hashlib.blake2b(b"%d" % n, digest_size=16).digest() for n in range(count)]
    tracemalloc.start()
    numbers = DigestNumbers()
    for n, digest in enumerate(digests):
        numbers.first(digest, n)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 100 * count

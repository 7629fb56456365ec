"""A cursor comes back as it was, and everything else is a client's mistake."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.wire.cursors import read_cursor, write_cursor
from shared.wire.problems import InputErrors

positions = st.text(max_size=120)


@given(st.text(max_size=40), positions)
def test_a_cursor_comes_back_as_it_was(scope: str, position: str) -> None:
    assert read_cursor(scope, write_cursor(scope, position)) == position


@given(positions)
def test_a_cursor_is_safe_in_a_url(position: str) -> None:
    assert write_cursor("jobs", position).replace("-", "").replace("_", "").isalnum()


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda b: base64.urlsafe_b64encode(b).decode()))
def test_garbage_is_refused_and_nothing_worse(garbage: str) -> None:
    with pytest.raises(InputErrors) as caught:
        read_cursor("jobs", garbage)
    assert caught.value.errors[0].field == "after"


@given(positions, st.integers(0, 200), st.characters())
def test_a_changed_cursor_is_refused(position: str, place: int, character: str) -> None:
    cursor = write_cursor("jobs", position)
    at = place % len(cursor)
    changed = cursor[:at] + character + cursor[at + 1 :]
    if changed != cursor:
        with pytest.raises(InputErrors):
            read_cursor("jobs", changed)


def test_another_spelling_of_the_same_bytes_is_refused() -> None:
    cursor = write_cursor("jobs", "2026-")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = alphabet.index(cursor[-1])
    with pytest.raises(InputErrors):
        read_cursor("jobs", cursor[:-1] + alphabet[last ^ 1])


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = write_cursor("support/jobs", "2026")
    for other in ("retail/jobs", "support/jobs?status=failed", ""):
        with pytest.raises(InputErrors):
            read_cursor(other, cursor)


def test_an_endless_cursor_is_refused_unread() -> None:
    with pytest.raises(InputErrors):
        read_cursor("jobs", "A" * 10_000_000)

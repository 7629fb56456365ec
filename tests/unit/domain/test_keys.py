"""The same input always has the same key, and nobody else's ever."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.ids import TenantId
from shared.domain.keys import KeyMaker, digest, label

SAFE = re.compile(r"[A-Za-z0-9_-]{1,64}")
texts = st.text(max_size=12)
inputs = st.tuples(texts, texts, texts, texts, st.binary(max_size=12), texts)
Given = tuple[str, str, str, str, bytes, str]


def key(given: Given) -> str:
    tenant, run_id, endpoint, model, body, salt = given
    maker = KeyMaker(tenant=TenantId(tenant), run_id=run_id, endpoint=endpoint, model=model)
    return maker.key(body, salt=salt)


def test_a_known_input_has_a_known_key() -> None:
    """Changed on purpose only: a re-run after an upgrade would buy everything again."""
    known = ("support", "2026-11-30", "chat", "azure_openai:gpt-5-mini", b'{"messages":[]}', "")

    assert key(known) == "2026-11-30-1cbfbc7f5146a98533ba9eae9075b2d8"


@given(inputs)
def test_a_key_is_safe_everywhere_and_stable(one: Given) -> None:
    assert SAFE.fullmatch(key(one))
    assert len(key(one)) <= 53
    assert key(one) == key(one)


@given(inputs, inputs)
def test_no_two_inputs_share_a_key(one: Given, other: Given) -> None:
    assume(one != other)

    assert key(one) != key(other)


@given(inputs, st.integers(0, 4), st.data())
def test_moving_text_from_one_field_to_the_next_makes_another_key(
    one: Given, place: int, data: st.DataObject
) -> None:
    """`a` + `bc` is not `ab` + `c`: every field is delimited by its length."""
    fields = [f.decode("latin-1") if isinstance(f, bytes) else f for f in one]
    joined = fields[place] + fields[place + 1]
    cut = data.draw(st.integers(0, len(joined)))
    moved = [*fields[:place], joined[:cut], joined[cut:], *fields[place + 2 :]]
    assume(moved != fields)

    assert key(_as_given(fields)) != key(_as_given(moved))


def _as_given(fields: list[str]) -> Given:
    tenant, run_id, endpoint, model, body, salt = fields
    return tenant, run_id, endpoint, model, body.encode(), salt


@given(st.lists(st.binary(max_size=6), max_size=4), st.lists(st.binary(max_size=6), max_size=4))
def test_no_two_lists_have_the_same_digest(one: list[bytes], other: list[bytes]) -> None:
    assert (digest(one, person=b"test") == digest(other, person=b"test")) == (one == other)


@pytest.mark.parametrize(
    ("run_id", "shown"),
    [
        ("2026-11-30", "2026-11-30"),
        ("night run / 7", "night-run-7"),
        ("Größe", "Gr-e"),
        ("-- --", "run"),
        ("", "run"),
        ("日本", "run"),
        ("a" * 50, "a" * 20),
        ("a" * 19 + "/b", "a" * 19),
        ("job_0199aabbccdd0000000000000001", "job_0199aabbccdd0000"),
    ],
)
def test_a_run_is_shown_by_its_safe_characters(run_id: str, shown: str) -> None:
    assert label(run_id) == shown


@given(st.text(max_size=40))
def test_a_label_never_ends_in_a_dash_and_is_never_empty(run_id: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,18}[A-Za-z0-9_])?", label(run_id))

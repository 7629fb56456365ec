"""The text itself: what is no YAML, and what is too much of it."""

import pytest

from shared.wire.catalog_yaml import MAX_BYTES
from tests.unit.catalog.texts import GOOD, TENANTS, read, refusal

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join('*' + before for _ in range(9))}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "1: is empty"),
        (b"# nothing\n", "1: is empty"),
        (b"a: [1\nb: 2\n", "2: not YAML: did not find expected ',' or ']'"),
        (b"a: 1\n\tb: 2\n", "2: not YAML: found a tab character that violates indentation"),
        (b"a: 1\n--- \nb: 2\n", "2: a second document begins here; one file holds one catalogue"),
        (b"tenants:\n  \xff\xfe: 1\n", "2: not UTF-8 text"),
        (b"a: 1\nb: \x00\n", "2: holds a NUL character"),
        (b"a: 1\nb: \x07\n", "2: not YAML: control characters are not allowed"),
        (BOMB.encode(), "1: a: anchors and aliases are not accepted; write the value out"),
        (b"a: 1\n<<: *a\n", "2: <<: anchors and aliases are not accepted; write the value out"),
        (
            b"a: !!python/object/apply:os.system [ls]\n",
            "1: a: tags (!) are not accepted; put the value in quotes",
        ),
        (b"a: !secret x\n", "1: a: tags (!) are not accepted; put the value in quotes"),
        (b"? [a, b]\n: 1\n", "1: a field's name must be text"),
        (b"a: " + b"[" * 9 + b"]" * 9, "1: a[0][0][0][0][0][0][0][0]: nested deeper than 8 levels"),
        (b"x" * (MAX_BYTES + 1), "1: larger than 1048576 bytes"),
        (b"a: [" + b"x," * 60_000 + b"]", "1: a[49997]: more than 50000 values"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "text",
)
def test_what_cannot_be_read_is_refused_with_its_line(text: bytes, complaint: str) -> None:
    assert [f"{p.line}: {p}" for p in refusal(text).problems] == [complaint]


@pytest.mark.parametrize(
    "text",
    [
        b"[" * MAX_BYTES,
        b"{a: " * (MAX_BYTES // 4),
        b"- " * (MAX_BYTES // 2),
        b"tenants:\n" + b"  a: {}\n" * (MAX_BYTES // 9),
        b"tenants:\n" + b"".join(b"  a%d: {}\n" % n for n in range(24_000)),
        b"? " * (MAX_BYTES // 2),
        b"a: '" + b"x\n\n" * (MAX_BYTES // 4),
    ],
    ids=["lists", "mappings", "items", "repeated", "tenants", "keys", "lines"],
)
@pytest.mark.timeout(60)
def test_the_largest_and_strangest_text_is_refused_in_time(text: bytes) -> None:
    refused = refusal(text)

    assert len(refused.problems) <= 100


def test_a_value_means_what_its_field_says_and_not_what_yaml_guesses() -> None:
    catalog = read(GOOD + 'pipelines:\n  no: {task: translate, alias: summarize, languages: [no, "de"]}\n')

    assert catalog.pipelines["no"].languages == ("no", "de")


def test_quoted_emptiness_is_a_text_and_not_nothing() -> None:
    text = TENANTS + 'deployments:\n  a: {provider: openai, model: ""}\naliases:\n  a: {hours: [a]}\n'

    assert [str(p) for p in refusal(text).problems] == ["deployments.a.model: must not be empty"]

"""Templates fill in text and do nothing else; blob references stay in the tenant's own folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.catalog import Endpoint
from shared.domain.ids import TenantId
from shared.wire.problems import InputErrors, Unusable
from shared.wire.templates import (
    BadPath,
    blob_ref,
    check_template,
    parse_template,
    parse_text,
    render,
    text_of,
)

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
literals = st.text(alphabet="ab{} .!\n[]0é", max_size=12)


@given(st.lists(st.tuples(literals, names, st.text(max_size=20)), max_size=6), literals)
def test_a_template_gives_its_literals_and_the_values_and_nothing_else(
    parts: list[tuple[str, str, str]], end: str
) -> None:
    values = {name: value for _, name, value in parts}
    doubled = [literal.replace("{", "{{").replace("}", "}}") for literal, _, _ in parts]
    source = "".join(f"{text}{{{name}}}" for text, (_, name, _) in zip(doubled, parts, strict=True))
    source += end.replace("{", "{{").replace("}", "}}")
    text = parse_text(source, field="user")
    assert text.names == set(values)
    assert text.fill(values) == "".join(literal + values[name] for literal, name, _ in parts) + end


@given(st.text(alphabet="{}ab._[]!:0 ", max_size=30))
def test_any_text_is_either_parsed_or_refused_with_its_place(source: str) -> None:
    try:
        text = parse_text(source, field="template.user")
    except InputErrors as caught:
        refused = caught
    else:
        assert text.source == source
        assert text.fill(dict.fromkeys(text.names, "")).count("{") <= source.count("{{")
        return
    assert refused.errors[0].field == "template.user"
    assert "at character" in refused.errors[0].message


@pytest.mark.parametrize(
    "source", ["{", "}", "{}", "{a.b}", "{a[0]}", "{a!r}", "{a:>9}", "{ a}", "{1a}", '{"a": 1}', "{{a}"]
)
def test_a_placeholder_is_a_name_and_never_an_expression(source: str) -> None:
    with pytest.raises(InputErrors, match="lone"):
        parse_text(source, field="user")


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    text = parse_text("{a} {b}", field="user")
    assert text.fill({"a": "{b}", "b": "{a} {{"}) == "{b} {a} {{"


@pytest.mark.parametrize(
    ("endpoint", "body"),
    [
        (
            Endpoint.CHAT,
            {"messages": [{"role": "system", "content": "In de."}, {"role": "user", "content": "Hallo"}]},
        ),
        (Endpoint.RESPONSES, {"instructions": "In de.", "input": "Hallo"}),
    ],
)
def test_a_template_is_rendered_for_its_endpoint(endpoint: Endpoint, body: object) -> None:
    template = parse_template(system="In {language}.", user="{text}")
    assert render(template, {"language": "de", "text": "Hallo"}, endpoint) == body


def test_without_a_system_text_there_is_only_the_user() -> None:
    template = parse_template(system=None, user="{text}")
    assert render(template, {"text": "x"}, Endpoint.CHAT) == {"messages": [{"role": "user", "content": "x"}]}
    assert render(template, {"text": "x"}, Endpoint.RESPONSES) == {"input": "x"}
    assert render(template, {"text": "x"}, Endpoint.EMBEDDINGS) == {"input": "x"}


def test_embeddings_have_no_place_for_a_system_text() -> None:
    with pytest.raises(Unusable, match=r"template\.system"):
        check_template(parse_template(system="x", user="y"), Endpoint.EMBEDDINGS)


def test_plain_values_read_as_in_json() -> None:
    assert [text_of(v) for v in ("a\n", True, False, 3, 0.5, 10**20)] == [
        "a\n",
        "true",
        "false",
        "3",
        "0.5",
        "100000000000000000000",
    ]


@pytest.mark.parametrize(
    "path", ["tickets/88413.pdf", "a", "Ünï/ço +1 [a] 100%20.pdf", "..a/b..", "x" * 1024, ".env"]
)
def test_a_path_below_the_own_folder_is_taken_as_it_is(path: str) -> None:
    assert blob_ref(path).place(TenantId("support")) == f"inputs/support/{path}"


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a",
        "a//b",
        "a/",
        "..",
        "../b",
        "a/../b",
        "a/./b",
        ".",
        "a\\b",
        "..\\b",
        "a\x00",
        "a\x7f",
        "a\n",
        "x" * 1025,
    ],
)
def test_a_path_that_could_mean_another_place_is_refused(path: str) -> None:
    with pytest.raises(BadPath, match=r"must not|must be|allowed"):
        blob_ref(path)


@given(st.text(max_size=40))
def test_no_path_ever_leaves_the_tenants_folder(path: str) -> None:
    try:
        place = blob_ref(path).place(TenantId("support"))
    except BadPath:
        return
    assert place.startswith("inputs/support/")
    assert not {"", ".", ".."}.intersection(place.split("/"))

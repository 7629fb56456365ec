"""What the door lets in, and what it says of everything else."""

import json

import pytest

from shared.domain.catalog import Endpoint
from shared.wire.door import Door, Expected, Input, Request, canonical, input_door, numbered, request_door
from shared.wire.jsonl import Line, Splitter
from shared.wire.problems import InputErrors, LineError, Unusable
from shared.wire.templates import BlobRef, Template, parse_template

LINE_BYTES = 4000
HELLO = {"messages": [{"role": "user", "content": "hello"}]}
CHAT_LINE = {
    "custom_id": "a",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {**HELLO, "model": "small"},
}


def expected(**changes: object) -> Expected:
    return Expected(**({"alias": "small", "max_line_bytes": LINE_BYTES} | changes))  # type: ignore[arg-type]


def lines_of(*entries: object) -> list[Line]:
    """Each entry on its own line; bytes are taken as they are."""
    content = b"\n".join(
        e if isinstance(e, bytes) else json.dumps(e, ensure_ascii=False).encode() for e in entries
    )
    splitter = Splitter(LINE_BYTES)
    return splitter.feed(content) + splitter.finish()


def admitted(*entries: object, **changes: object) -> list[Request]:
    door = request_door(expected(**changes))
    requests = door.admit(lines_of(*entries))
    door.close()
    return requests


def body_of(body: object, **changes: object) -> dict[str, object]:
    return admitted({"body": body}, **changes)[0].content


def refused(*entries: object, **changes: object) -> list[LineError]:
    with pytest.raises(InputErrors) as caught:
        admitted(*entries, **changes)
    return list(caught.value.errors)


def refusal(*entries: object, **changes: object) -> tuple[int | None, str | None, str]:
    (error,) = refused(*entries, **changes)
    return error.line, error.field, error.message


# One bad line after a good one: (line, field, a part of the message).
BAD_LINES = [
    (b"[1,2,3]", None, "must be a JSON object, not an array"),
    (b"null", None, "not null"),
    (b'"x"', None, "not a string"),
    (b"true", None, "not a boolean"),
    (b"17", None, "not a number"),
    (b'{"body": {}', None, "is not JSON: it ends in the middle"),
    (b'{"body": {"a": NaN}}', None, "(byte 15)"),
    (b'{"body": {"a": 1e400}}', None, "out of range"),
    (b'{"body": {"a": "\\ud800 "}}', None, "surrogate"),
    (b'{"body": {"a": "\xff"}}', None, "UTF-8"),
    (b'{"body": ' + b"[" * 150 + b"]" * 150 + b"}", None, "nested deeper than 100"),
    (b'{"body": {"x": "' + b"y" * LINE_BYTES + b'"}}', None, "longer than 4,000 bytes"),
    ({"custom_id": "z"}, "body", "is missing"),
    ({"body": json.dumps(HELLO)}, "body", "not a string; send the JSON itself"),
    ({"body": [HELLO]}, "body", "not an array"),
    ({"body": None}, "body", "not null"),
    ({"boby": HELLO}, "boby", "unknown field 'boby'"),
    ({"body": HELLO, "vars": {}}, "vars", "unknown field"),
    ({"body": HELLO, "method": "GET"}, "method", 'must be "POST"'),
    ({"body": HELLO, "method": 5}, "method", 'must be "POST"'),
    ({"body": HELLO, "url": "/v1/completions"}, "url", "'/v1/completions' is not supported"),
    ({"body": HELLO, "url": ["/v1/chat/completions"]}, "url", "an array is not supported"),
    ({"body": HELLO, "url": "/v1/responses"}, "url", "line 1 for /v1/chat/completions"),
    ({"body": {**HELLO, "model": "gpt-5"}}, "body.model", "is 'gpt-5', but the job's alias is 'small'"),
    ({"body": {**HELLO, "model": None}}, "body.model", "must be a string, not null"),
    ({"body": {**HELLO, "stream": True}}, "body.stream", "cannot stream"),
    ({"body": {**HELLO, "n": 2}}, "body.n", "one answer"),
    ({"body": {**HELLO, "max_tokens": "many"}}, "body.max_tokens", "whole number"),
    ({"body": {**HELLO, "max_completion_tokens": True}}, "body.max_completion_tokens", "whole number"),
    ({"body": {**HELLO, "max_completion_tokens": 10**30}}, "body.max_completion_tokens", "10,000,000"),
    ({"body": {}}, "body.messages", "is missing"),
    ({"body": {"input": "x"}}, "body.messages", "is missing"),
    ({"body": {"messages": "hello"}}, "body.messages", "array of messages, not a string"),
    ({"body": {"messages": []}}, "body.messages", "must not be empty"),
    ({"body": {"messages": ["hello"]}}, "body.messages[0]", "must be an object"),
    ({"body": {"messages": [{"content": "x"}]}}, "body.messages[0].role", "must be a string"),
    ({"body": {"messages": [{"role": "user", "content": 1}]}}, "body.messages[0].content", "must be"),
    ({"body": HELLO, "custom_id": 7}, "custom_id", "must be a string, not a number"),
    ({"body": HELLO, "custom_id": None}, "custom_id", "must be a string, not null"),
    ({"body": HELLO, "custom_id": ""}, "custom_id", "must not be empty"),
    ({"body": HELLO, "custom_id": "é" * 513}, "custom_id", "has 513 characters; 512 are allowed"),
]


@pytest.mark.parametrize(("bad", "field", "message"), BAD_LINES, ids=[str(e[2]) for e in BAD_LINES])
def test_a_bad_line_is_refused_by_its_number(bad: object, field: str | None, message: str) -> None:
    line, found, text = refusal({"body": HELLO}, bad)
    assert (line, found) == (2, field)
    assert message in text


def test_a_hundred_levels_are_deep_enough() -> None:
    def nested(levels: int) -> bytes:
        brackets = levels - 2
        return b'{"body": {"input": "x", "metadata": ' + b"[" * brackets + b"]" * brackets + b"}}"

    assert admitted(nested(100))
    assert "deeper than 100" in refusal(nested(101))[2]


def test_the_physical_line_is_named_and_the_position_counts_only_requests() -> None:
    requests = admitted(b"\xef\xbb\xbf", {"body": HELLO}, b"\r", b"   ", {"body": HELLO})
    assert [(r.line, r.position, r.custom_id) for r in requests] == [(2, 1, "1"), (5, 2, "2")]


def test_a_duplicate_id_names_both_lines() -> None:
    other = {"messages": [{"role": "user", "content": "other"}]}
    line, field, message = refusal(
        {"custom_id": "t-1", "body": HELLO}, b"", {"custom_id": "t-1", "body": other}
    )
    assert (line, field) == (3, "custom_id")
    assert "'t-1' is used on line 1 and again on line 3" in message


def test_a_long_duplicate_id_is_cut_short_in_the_message() -> None:
    name = "x" * 500
    _, _, message = refusal({"custom_id": name, "body": HELLO}, {"custom_id": name, "body": HELLO})
    assert f"'{'x' * 64}...'" in message


@pytest.mark.parametrize("entries", [({"body": HELLO, "custom_id": "2"}, {"body": HELLO})])
def test_a_position_may_not_clash_with_a_given_id(entries: tuple[object, ...]) -> None:
    line, field, message = refusal(*entries)
    assert (line, field) == (2, "custom_id")
    assert "line 1 already uses" in message


def test_a_given_id_may_not_clash_with_an_earlier_position() -> None:
    assert refusal({"body": HELLO}, {"body": HELLO, "custom_id": "1"})[:2] == (2, "custom_id")


def test_an_id_of_a_bad_line_is_taken_all_the_same() -> None:
    errors = refused({"custom_id": "a"}, {"custom_id": "a", "body": HELLO})
    assert [(e.line, e.field) for e in errors] == [(1, "body"), (2, "custom_id")]


def test_any_unicode_of_512_characters_is_an_id() -> None:
    name = "Müller/№ 3 😀" + "ü" * 500
    assert admitted({"custom_id": name[:512], "body": HELLO})[0].custom_id == name[:512]


def test_every_bad_line_is_reported_up_to_a_hundred() -> None:
    with pytest.raises(InputErrors) as caught:
        admitted(*([1] * 250))
    assert [e.line for e in caught.value.errors] == list(range(1, 101))
    assert caught.value.total == 250
    assert str(caught.value) == "line 1: must be a JSON object, not a number (and 249 more)"


def test_no_request_at_all_is_an_error() -> None:
    assert refusal(b"", b"  ") == (None, None, "there is no request in it")


def test_one_request_too_many_stops_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.wire.door.MAX_REQUESTS", 3)
    errors = refused(b"[]", *([{"body": HELLO}] * 5))
    assert [(e.line, e.field) for e in errors] == [(4, None), (1, None)]
    assert "one more than the 3 requests" in errors[0].message


def test_elements_of_an_array_are_counted_by_position() -> None:
    door = request_door(expected())
    door.admit(numbered([b'{"body":{}}', b"[]", b"x" * 4001], max_line_bytes=LINE_BYTES))
    with pytest.raises(InputErrors) as caught:
        door.close()
    assert [e.line for e in caught.value.errors] == [1, 2, 3]
    assert "longer than" in caught.value.errors[2].message


def test_a_line_in_openai_batch_format_is_accepted_as_it_is() -> None:
    (request,) = admitted(CHAT_LINE, openai_format=True)
    assert request.custom_id == "a"
    assert request.content == HELLO


@pytest.mark.parametrize("missing", ["custom_id", "method", "url", "body"])
def test_openai_batch_format_misses_nothing(missing: str) -> None:
    line = {name: value for name, value in CHAT_LINE.items() if name != missing}
    assert refusal(CHAT_LINE | {"custom_id": "b"}, line, openai_format=True) == (2, missing, "is missing")


def test_openai_batch_format_names_the_model() -> None:
    line = CHAT_LINE | {"body": HELLO}
    assert refusal(line, openai_format=True) == (1, "body.model", "is missing")


@pytest.mark.parametrize(
    ("entry", "endpoint"),
    [
        ({"body": HELLO}, Endpoint.CHAT),
        ({"body": {"input": "x"}, "url": "/v1/embeddings"}, Endpoint.EMBEDDINGS),
        ({"body": {"input": "x"}, "url": "/v1/responses"}, Endpoint.RESPONSES),
        ({"body": HELLO, "url": "/chat/completions"}, Endpoint.CHAT),
        ({"body": {"input": "x"}}, Endpoint.RESPONSES),
        ({"body": {"input": [{"role": "user", "content": "x"}]}}, Endpoint.RESPONSES),
        ({"body": {"input": ["x", "y"]}}, Endpoint.EMBEDDINGS),
        ({"body": {"input": [[1, 2], [3]]}}, Endpoint.EMBEDDINGS),
        ({"body": {"input": "x", "dimensions": 256}}, Endpoint.EMBEDDINGS),
        ({"body": {"input": "x", "instructions": "be short"}}, Endpoint.RESPONSES),
    ],
)
def test_the_first_line_decides_the_endpoint(entry: object, endpoint: Endpoint) -> None:
    door = request_door(expected())
    door.admit(lines_of(entry))
    door.close()
    assert door.endpoint is endpoint


def test_an_input_text_means_what_the_alias_does() -> None:
    door = request_door(expected(input_means=Endpoint.EMBEDDINGS))
    door.admit(lines_of({"body": {"input": "x"}}))
    assert door.endpoint is Endpoint.EMBEDDINGS


def test_a_body_of_no_endpoint_is_refused() -> None:
    assert refusal({"body": {"prompt": "x"}})[:2] == (1, "body")


def test_a_url_may_not_contradict_the_job() -> None:
    line, field, message = refusal(CHAT_LINE, endpoint=Endpoint.RESPONSES)
    assert (line, field) == (1, "url")
    assert "the job for /v1/responses" in message


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "body.input"),
        ({"input": ""}, "body.input"),
        ({"input": []}, "body.input"),
        ({"input": 7}, "body.input"),
        ({"input": ["x", 7]}, "body.input"),
        ({"input": ["x", ""]}, "body.input"),
        ({"input": [[1], []]}, "body.input"),
        ({"input": [{"role": "user"}]}, "body.input"),
    ],
)
def test_embeddings_take_texts_and_tokens_only(body: object, field: str) -> None:
    assert refusal({"body": body}, endpoint=Endpoint.EMBEDDINGS)[:2] == (1, field)


@pytest.mark.parametrize("body", [{}, {"input": None}, {"input": []}, {"input": {"a": 1}}, {"input": ["x"]}])
def test_responses_take_a_text_or_items(body: object) -> None:
    line, field, _ = refusal({"body": body}, endpoint=Endpoint.RESPONSES)
    assert (line, (field or "")[:10]) == (1, "body.input")


def test_params_fill_what_a_body_lacks() -> None:
    params = {"temperature": 0.2, "max_output_tokens": 100}
    assert body_of(HELLO, params=params) == HELLO | {"temperature": 0.2, "max_completion_tokens": 100}
    own = HELLO | {"temperature": 1, "max_tokens": 7}
    assert body_of(own, params=params) == own


def test_model_and_an_unset_stream_are_left_out() -> None:
    assert body_of({**HELLO, "model": "small", "stream": False}) == HELLO


def test_responses_call_the_token_limit_by_another_name() -> None:
    body = body_of({"input": "x"}, params={"max_output_tokens": 100}, endpoint=Endpoint.RESPONSES)
    assert body == {"input": "x", "max_output_tokens": 100}


def test_the_aliases_default_applies_last() -> None:
    assert body_of(HELLO, default_max_output_tokens=400)["max_completion_tokens"] == 400
    assert (
        body_of(HELLO, default_max_output_tokens=400, params={"max_tokens": 9})["max_completion_tokens"] == 9
    )
    null = HELLO | {"max_completion_tokens": None}
    assert body_of(null, default_max_output_tokens=400)["max_completion_tokens"] == 400
    assert body_of({"input": "x"}, default_max_output_tokens=4, endpoint=Endpoint.EMBEDDINGS) == {
        "input": "x"
    }


SCHEMA = {
    "title": "Invoice, v2!",
    "type": "object",
    "properties": {"total": {"type": "number"}},
    "required": ["total"],
    "additionalProperties": False,
}


def test_a_schema_becomes_the_answer_format_of_the_endpoint() -> None:
    inner = {"name": "Invoice_v2", "strict": True, "schema": SCHEMA}
    assert body_of(HELLO, schema=SCHEMA)["response_format"] == {"type": "json_schema", "json_schema": inner}
    body = body_of({"input": "x", "text": {"verbosity": "low"}}, schema=SCHEMA, endpoint=Endpoint.RESPONSES)
    assert body["text"] == {"verbosity": "low", "format": {"type": "json_schema", **inner}}


@pytest.mark.parametrize(
    "change",
    [
        {"additionalProperties": True},
        {"required": []},
        {"type": "array"},
        {"allOf": []},
        {"properties": {"total": {"type": "object"}}},
        {"$defs": {"x": {"type": "object", "properties": {"y": {}}}}},
    ],
)
def test_a_schema_that_providers_refuse_in_strict_mode_is_asked_for_without_it(
    change: dict[str, object],
) -> None:
    answer = body_of(HELLO, schema=SCHEMA | change)["response_format"]
    assert isinstance(answer, dict)
    assert answer["json_schema"]["strict"] is False


def test_a_body_with_its_own_format_contradicts_the_schema() -> None:
    body = HELLO | {"response_format": {"type": "json_object"}}
    assert refusal({"body": body}, schema=SCHEMA)[:2] == (1, "body.response_format")


def test_an_effective_body_passes_the_door_unchanged() -> None:
    rules: dict[str, object] = {"schema": SCHEMA, "params": {"max_output_tokens": 5, "seed": 1}}
    once = body_of({**HELLO, "stream": False, "model": "small"}, **rules)
    assert canonical(body_of(once, **rules)) == canonical(once)


@pytest.mark.parametrize("asked", [{"schema": SCHEMA}, {"params": {"max_output_tokens": 5}}])
def test_embeddings_have_no_text_to_limit_or_format(asked: dict[str, object]) -> None:
    with pytest.raises(Unusable, match="embeddings"):
        body_of({"input": "x"}, endpoint=Endpoint.EMBEDDINGS, **asked)


def test_equal_bodies_have_equal_bytes() -> None:
    assert (
        canonical({"b": [1, 1.5], "a": {"d": None, "c": "é"}})
        == '{"a":{"c":"é","d":null},"b":[1,1.5]}'.encode()
    )
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


TEMPLATE = parse_template(system="Answer in {language}.", user="{text}")


def inputs_door(template: Template = TEMPLATE) -> Door:
    return input_door(expected(), template)


def admitted_inputs(*entries: object, template: Template = TEMPLATE) -> list[Input]:
    door = inputs_door(template)
    inputs = door.admit(lines_of(*entries))
    door.close()
    return inputs


def test_inputs_give_the_template_its_variables() -> None:
    (one,) = admitted_inputs(
        {"custom_id": "t", "vars": {"text": {"blob": "tickets/88413.pdf"}, "language": "de"}}
    )
    assert one.custom_id == "t"
    assert one.content == {"text": BlobRef(path="tickets/88413.pdf"), "language": "de"}


def test_what_the_job_gets_wrong_is_told_before_the_first_input() -> None:
    rules = expected(endpoint=Endpoint.EMBEDDINGS, schema=SCHEMA)
    with pytest.raises(Unusable, match="output_schema"):
        input_door(rules, parse_template(system=None, user="{text}"))


def test_a_template_without_variables_needs_none() -> None:
    (one,) = admitted_inputs({}, template=parse_template(system=None, user="Tell a joke."))
    assert (one.custom_id, one.content) == ("1", {})


BAD_INPUTS = [
    ({"vars": {"text": "x"}}, "vars.language", "is missing"),
    (
        {"vars": {"text": "x", "language": "de", "extra": 1}},
        "vars.extra",
        "the template uses 'language', 'text'",
    ),
    ({"vars": {"text": None, "language": "de"}}, "vars.text", "not null"),
    ({"vars": {"text": ["x"], "language": "de"}}, "vars.text", "not an array"),
    ({"vars": {"text": {"blob": "a", "etag": "b"}, "language": "de"}}, "vars.text", "not another object"),
    ({"vars": {"text": {"blob": 7}, "language": "de"}}, "vars.text.blob", "not a number"),
    ({"vars": {"text": {"blob": "../retail/x"}, "language": "de"}}, "vars.text.blob", "'..'"),
    ({"vars": []}, "vars", "must be an object"),
    ({"body": {}}, "body", "an input has custom_id and vars"),
]


@pytest.mark.parametrize(("bad", "field", "message"), BAD_INPUTS, ids=[str(e[2]) for e in BAD_INPUTS])
def test_a_bad_input_is_refused_by_its_position(bad: object, field: str, message: str) -> None:
    good = {"vars": {"text": "x", "language": "de"}}
    with pytest.raises(InputErrors) as caught:
        admitted_inputs(good, bad)
    (error,) = caught.value.errors
    assert (error.line, error.field) == (2, field)
    assert message in error.message

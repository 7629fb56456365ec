"""Bodies of the native API: what is taken, and which words answer the rest."""

import json
import tracemalloc

import pytest

from shared.domain.catalog import Endpoint
from shared.domain.jobs import SourceKind
from shared.domain.outcomes import Outcome
from shared.wire.bodies import JobBody, read_job, read_rescore, read_retry, read_upload
from shared.wire.bodies_models import JobSubmission
from shared.wire.problems import InputErrors, NotAvailable, Unusable

MINIMAL = {"alias": "small", "requests": [{"body": {}}]}
OF_INPUTS = {"alias": "small", "inputs": [{"vars": {"text": "x"}}], "template": {"user": "{text}"}}
CONTRACT_EXAMPLE = b"""{"alias": "summarize", "tags": {"project": "tickets", "owner": "ana",
 "environment": "prod", "run_id": "2026-11-30"},
 "template": {"system": "Summarize the ticket in two sentences.", "user": "{text}"},
 "inputs": [{"custom_id": "ticket-88412", "vars": {"text": "..."}},
            {"custom_id": "ticket-88413", "vars": {"text": {"blob": "tickets/88413.pdf"}}}]}"""


def job(body: object) -> JobBody:
    return read_job(body if isinstance(body, bytes) else json.dumps(body).encode())


def errors_of(body: object) -> list[tuple[str | None, str]]:
    with pytest.raises(InputErrors) as caught:
        job(body)
    assert all(e.line is None for e in caught.value.errors)
    return [(e.field, e.message) for e in caught.value.errors]


def test_the_contracts_example_is_read() -> None:
    read = job(CONTRACT_EXAMPLE)
    assert (read.alias, read.kind, read.run_id) == ("summarize", SourceKind.INPUTS, "2026-11-30")
    assert read.template is not None
    assert read.template.names == {"text"}
    assert json.loads(bytes(read.elements[1]))["custom_id"] == "ticket-88413"


def test_the_contracts_example_is_what_the_openapi_document_describes() -> None:
    JobSubmission.model_validate_json(CONTRACT_EXAMPLE)
    assert "requests" in JobSubmission.model_json_schema()["properties"]


def test_what_is_left_out_has_its_default() -> None:
    read = job(MINIMAL)
    assert (read.dedupe, read.endpoint, read.deadline_hours, read.run_id) == (True, None, None, None)
    assert (dict(read.params), dict(read.tags), read.output_schema) == ({}, {}, None)


def test_everything_that_may_be_given_is_kept() -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [None, 1.5]}}}
    params = {"temperature": 0, "max_output_tokens": 400, "seed": 7, "metadata": {"a": None}, "top_p": None}
    more = {
        "output_schema": schema,
        "params": params,
        "endpoint": "chat",
        "dedupe": False,
        "deadline_hours": 6,
    }
    read = job({"alias": "small", "upload_id": "upl_1", **more})
    assert (read.kind, read.upload_id, read.endpoint) == (SourceKind.UPLOAD, "upl_1", Endpoint.CHAT)
    assert read.output_schema == schema
    assert read.params == {"temperature": 0, "max_output_tokens": 400, "seed": 7, "metadata": {"a": None}}
    assert (read.dedupe, read.deadline_hours) == (False, 6)


def test_null_is_as_good_as_absent() -> None:
    nothing = dict.fromkeys(
        ["tags", "params", "endpoint", "upload_id", "inputs", "max_cost", "deadline_hours"]
    )
    assert job(MINIMAL | nothing) == job(MINIMAL)


# (what is changed in a good body, field, a part of the message)
BAD_FIELDS = [
    ({"boby": 1}, "boby", "known fields: alias, deadline_hours"),
    ({"alias": None}, "alias", "is missing"),
    ({"alias": 7}, "alias", "must be a valid string"),
    ({"alias": ""}, "alias", "must not be empty"),
    ({"requests": {"body": {}}}, "requests", "must be an array, not an object"),
    ({"requests": True}, "requests", "not a boolean"),
    ({"requests": -1}, "requests", "not a number"),
    ({"requests": []}, "requests", "must not be empty"),
    ({"tags": ["a"]}, "tags", "must be an object"),
    ({"tags": {"a": 1}}, "tags.a", "must be a valid string"),
    ({"tags": {"": "x"}}, "tags.", "must not be empty"),
    ({"tags": {"a" * 65: "x"}}, "tags." + "a" * 64, "more than 64 characters"),
    ({"tags": {"a": "x" * 257}}, "tags.a", "more than 256 characters"),
    ({"tags": {str(n): "" for n in range(17)}}, "tags", "more than 16 entries"),
    ({"tags": {"run_id": ""}}, "tags", "run_id must not be empty"),
    ({"tags": {"a\n": "b"}}, "tags.a\ufffd", "control characters"),
    ({"output_schema": [1]}, "output_schema", "must be an object"),
    ({"output_schema": {"x": "y" * 65_536}}, "output_schema", "65,536 are allowed"),
    ({"params": {"temperature": "hot"}}, "params.temperature", "must be a valid number"),
    ({"params": {"temperature": 3}}, "params.temperature", "less than or equal to 2"),
    ({"params": {"max_output_tokens": 0}}, "params.max_output_tokens", "greater than or equal to 1"),
    ({"params": {"max_output_tokens": True}}, "params.max_output_tokens", "must be a valid integer"),
    ({"params": {"max_tokens": 1, "max_output_tokens": 2}}, "params", "mean the same"),
    ({"params": {"stream": True}}, "params", "cannot set stream for all requests"),
    ({"params": {"x": "y" * 65_536}}, "params", "65,536 are allowed"),
    ({"endpoint": "completions"}, "endpoint", "must be 'chat', 'responses' or 'embeddings'"),
    ({"dedupe": 1}, "dedupe", "must be a valid boolean"),
    ({"deadline_hours": 0}, "deadline_hours", "must be greater than 0"),
    ({"deadline_hours": True}, "deadline_hours", "must be a valid number"),
    ({"deadline_hours": 1000}, "deadline_hours", "less than or equal to 720"),
]


@pytest.mark.parametrize(
    ("change", "field", "message"), BAD_FIELDS, ids=[f"{e[1]} {e[2]}" for e in BAD_FIELDS]
)
def test_a_bad_field_is_named(change: dict[str, object], field: str, message: str) -> None:
    ((found, text),) = errors_of(MINIMAL | change)
    assert found == field
    assert message in text


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ("{text}", "template"),
        ({}, "template.user"),
        ({"user": ""}, "template.user"),
        ({"user": "{text"}, "template.user"),
        ({"user": "x", "assistant": "y"}, "template.assistant"),
        ({"user": "x" * 40_000, "system": "x" * 40_000}, "template"),
        ({"user": "x" * 900_000}, "template"),
    ],
)
def test_a_bad_template_is_named(template: object, field: str) -> None:
    ((found, _),) = errors_of(OF_INPUTS | {"template": template})
    assert found == field


def test_all_bad_fields_are_named_at_once() -> None:
    assert [field for field, _ in errors_of(MINIMAL | {"alias": 1, "dedupe": "no"})] == ["alias", "dedupe"]


def test_no_value_is_repeated_in_a_message() -> None:
    secret = "sk-very-secret"
    for change in ({"alias": [secret]}, {"tags": {"a": [secret]}}, {"endpoint": secret}, {"dedupe": secret}):
        assert secret not in str(errors_of(MINIMAL | change))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[1]", "must be a JSON object, not an array"),
        (b'"x"', "not a string"),
        (b"\xef\xbb\xbfnull", "not null"),
        (b'{"alias": "a",}', "is not JSON: trailing comma in object (byte 14)"),
        (b'{"requests": [{"body": {]}', "(byte 24)"),
        (b'{"alias": "a"', "ends in the middle"),
        (b"\xff\xfe{", "is not JSON"),
        (b"[" * 200_000, "not an array"),
        (b'{"a":' + b"[" * 200_000, "nested deeper"),
    ],
)
def test_what_is_not_json_is_told_where(body: bytes, message: str) -> None:
    ((field, text),) = errors_of(body)
    assert field is None
    assert message in text


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"alias": "\xff", "upload_id": "u"}', "alias"),
        (
            b'{"alias": "a", "upload_id": "u", "output_schema": ' + b"[" * 150 + b"]" * 150 + b"}",
            "output_schema",
        ),
    ],
)
def test_what_only_shows_on_a_closer_look_is_named(body: bytes, field: str) -> None:
    assert [found for found, _ in errors_of(body)] == [field]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"requests": None}, "none of them"),
        ({"upload_id": "u"}, "requests and upload_id"),
        ({"inputs": [{}]}, "requests and inputs"),
        ({"template": {"user": "x"}}, "go together"),
        ({"requests": None, "inputs": [{}]}, "go together"),
        ({"output_schema": {}, "params": {"response_format": {}}}, "leave params.response_format out"),
    ],
)
def test_what_cannot_go_together_is_unusable(change: dict[str, object], words: str) -> None:
    with pytest.raises(Unusable, match=words) as caught:
        job(MINIMAL | change)
    assert caught.value.code == "unusable_combination"


@pytest.mark.parametrize("name", ["max_cost", "pilot", "at_deadline"])
def test_what_is_not_built_is_never_ignored(name: str) -> None:
    with pytest.raises(NotAvailable, match=name):
        job(MINIMAL | {name: 1})


def test_more_requests_than_a_job_may_have_are_refused() -> None:
    ((field, message),) = errors_of(b'{"alias": "a", "requests": [' + b"{}," * 1_000_000 + b"{}]}")
    assert field == "requests"
    assert "1,000,001 entries; 1,000,000 are allowed" in message


def test_a_large_body_costs_little_more_than_itself() -> None:
    element = b'{"body":{"x":"' + b"y" * 1000 + b'"}}'
    body = b'{"alias": "a", "requests": [' + b",".join([element] * 30_000) + b"]}"
    tracemalloc.start()
    read = job(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(read.elements) == 30_000
    assert peak < len(body) / 4


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b'{"alias": "a", "requests": [' + b",".join([b"1"] * 2_000_000) + b"]}",
            "not all of them are objects",
        ),
        (b'{"alias": "a", "requests": [' + b",".join([b"{}"] * 1_000_001) + b"]}", "1,000,001 entries"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(500_000)) + b"}", "unknown field '0'"),
    ],
    ids=["entries that are no objects", "too many entries", "members nobody knows"],
)
def test_a_body_of_millions_of_trifles_is_refused_in_little_memory(body: bytes, message: str) -> None:
    tracemalloc.start()
    ((_, text),) = errors_of(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message in text
    assert peak < 50_000_000


def test_of_many_unknown_fields_the_first_hundred_are_named() -> None:
    assert len(errors_of({f"f{n}": 1 for n in range(1000)})) == 100


def test_a_retry_may_ask_for_more() -> None:
    read = read_retry(b'{"include": ["refused", "truncated"], "params": {"max_output_tokens": 900}}')
    assert read.include == {Outcome.REFUSED, Outcome.TRUNCATED}
    assert read.params == {"max_output_tokens": 900}


def test_a_retry_without_a_body_asks_for_what_is_not_final() -> None:
    read = read_retry(b"")
    assert (read.include, dict(read.params)) == (frozenset(), {})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"include": ["succeeded"]}', "include[0]"),
        (b'{"include": "refused"}', "include"),
        (b'{"only": []}', "only"),
        (b'{"params": {"model": "x"}}', "params"),
    ],
)
def test_a_retry_says_what_it_cannot_include(body: bytes, field: str) -> None:
    with pytest.raises(InputErrors) as caught:
        read_retry(body)
    assert [e.field for e in caught.value.errors] == [field]


def test_an_upload_has_a_name() -> None:
    assert read_upload('{"filename": "Tickets Ü.jsonl"}'.encode()) == "Tickets Ü.jsonl"
    for bad in (b"{}", b'{"filename": ""}', b'{"filename": "a\\u0000"}', b'{"filename": 1}'):
        with pytest.raises(InputErrors) as caught:
            read_upload(bad)
        assert [e.field for e in caught.value.errors] == ["filename"]


def test_a_rescore_says_which_documents() -> None:
    read = read_rescore(b'{"prefix": "2026/", "prompt": "Shorter."}')
    assert (read.prefix, read.prompt, read.alias) == ("2026/", "Shorter.", None)

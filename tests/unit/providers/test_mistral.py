"""Mistral's bodies, rows and jobs, without a wire."""

import json
from typing import Any

import pytest
from mistralai.client.models import BatchJob

from shared.adapters.providers.mistral.bodies import mistral_body, objection
from shared.adapters.providers.mistral.objects import read_job
from shared.adapters.providers.mistral.rows import read_row, write_line
from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Again, Finish, Row, RowKind, judge
from shared.domain.usage import Usage
from shared.ports.providers import RemoteState

USER = {"role": "user", "content": "hi"}


def chat(**fields: object) -> dict[str, Any]:
    return mistral_body(Endpoint.CHAT, {"messages": [USER], **fields})


def an_answer(content: object = "hello", *, finish: str = "stop", **fields: object) -> dict[str, Any]:
    return {
        "id": "a1",
        "object": "chat.completion",
        "model": "mistral-small",
        "created": 1_780_000_000,
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
        **fields,
    }


def row_of(body: object, status: int = 200, endpoint: Endpoint = Endpoint.CHAT) -> Row:
    line = {"id": "b-1", "custom_id": "k-1", "response": {"status_code": status, "body": body}, "error": None}
    return read_row(endpoint, json.dumps(line).encode())


def an_error(**fields: object) -> str:
    """As in an error file: JSON inside a string."""
    return json.dumps({"object": "error", "param": None, "raw_status_code": 400, **fields})


def body_of(row: Row) -> dict[str, Any]:
    assert row.body is not None
    body: dict[str, Any] = json.loads(row.body)
    return body


# Bodies


def test_a_line_names_neither_method_nor_model() -> None:
    line = write_line(RequestKey("k-1"), Endpoint.CHAT, {"messages": [USER], "max_completion_tokens": 5})

    assert json.loads(line) == {"custom_id": "k-1", "body": {"messages": [USER], "max_tokens": 5}}


def test_names_that_differ_are_translated_and_bookkeeping_is_left_out() -> None:
    assert chat(seed=7, user="u-1", store=False, stop="END", metadata={"a": "b"}) == {
        "messages": [USER],
        "random_seed": 7,
        "stop": ["END"],
    }


def test_a_responses_body_becomes_a_chat() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = {"type": "json_schema", "name": "thing", "schema": schema, "strict": True}

    body = mistral_body(
        Endpoint.RESPONSES,
        {"instructions": "Be brief.", "input": "hi", "max_output_tokens": 9, "text": {"format": form}},
    )

    assert body["messages"] == [{"role": "system", "content": "Be brief."}, USER]
    assert body["max_tokens"] == 9
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "thing", "schema": schema, "strict": True},
    }


def test_a_developer_is_the_system_and_parts_keep_their_kind() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}

    body = mistral_body(
        Endpoint.CHAT,
        {
            "messages": [
                {"role": "developer", "content": "Look."},
                {"role": "user", "content": [{"type": "text", "text": "this"}, image]},
            ]
        },
    )

    assert body["messages"] == [
        {"role": "system", "content": "Look."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "this"},
                {"type": "image_url", "image_url": "https://example.com/a.png"},
            ],
        },
    ]


def test_ids_of_tool_calls_get_nine_characters_and_still_belong_together() -> None:
    function = {"name": "find", "arguments": '{"q": 1}'}
    calls = [{"id": "call_0fypS1hVXabc", "type": "function", "function": function}]

    body = mistral_body(
        Endpoint.CHAT,
        {
            "messages": [
                USER,
                {"role": "assistant", "content": None, "tool_calls": calls},
                {"role": "tool", "tool_call_id": "call_0fypS1hVXabc", "content": "found"},
            ],
            "tools": [{"type": "function", "function": {"name": "find"}}],
        },
    )

    asked, reported = body["messages"][1], body["messages"][2]
    assert asked["tool_calls"][0]["id"] == reported["tool_call_id"]
    assert len(reported["tool_call_id"]) == 9
    assert reported["tool_call_id"].isalnum()
    assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}


def test_embeddings_keep_their_body_under_other_names() -> None:
    body = mistral_body(Endpoint.EMBEDDINGS, {"input": ["a", "b"], "dimensions": 256, "user": "u"})

    assert body == {"input": ["a", "b"], "output_dimension": 256}


@pytest.mark.parametrize(
    ("endpoint", "body", "field"),
    [
        (Endpoint.CHAT, {"messages": [USER], "temperature": 1.8}, "temperature"),
        (Endpoint.CHAT, {"messages": [USER], "logit_bias": {"5": 1}}, "logit_bias"),
        (Endpoint.CHAT, {"messages": [USER], "n": 2}, "n"),
        (Endpoint.CHAT, {"messages": [USER, {"role": "assistant", "content": "a"}]}, "messages"),
        (Endpoint.RESPONSES, {"input": "hi", "previous_response_id": "r"}, "previous_response_id"),
        (Endpoint.EMBEDDINGS, {"input": [[1, 2]]}, "input"),
        (Endpoint.EMBEDDINGS, {"input": "a", "stream": True}, "stream"),
    ],
)
def test_what_mistral_would_refuse_is_objected_to_by_its_field(
    endpoint: Endpoint, body: dict[str, Any], field: str
) -> None:
    found = objection(endpoint, body)

    assert found is not None
    assert found.field == field


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.EMBEDDINGS])
def test_a_plain_request_is_not_objected_to(endpoint: Endpoint) -> None:
    assert objection(endpoint, {"messages": [USER]} if endpoint is Endpoint.CHAT else {"input": "a"}) is None


# Rows


def test_an_answer_is_openais_whatever_was_asked_for() -> None:
    chat_row, response = row_of(an_answer()), row_of(an_answer(), endpoint=Endpoint.RESPONSES)

    assert (chat_row.key, chat_row.kind, chat_row.text) == ("k-1", RowKind.ANSWER, "hello")
    assert body_of(chat_row)["choices"][0]["message"]["content"] == "hello"
    assert (response.text, body_of(response)["object"]) == ("hello", "response")
    assert body_of(response)["usage"]["input_tokens"] == 9


def test_what_was_thought_is_no_part_of_the_answer() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}

    assert row_of(an_answer([thinking, {"type": "text", "text": "so"}])).text == "so"


@pytest.mark.parametrize(
    ("told", "finish"),
    [("stop", Finish.STOP), ("length", Finish.LENGTH), ("model_length", Finish.LENGTH), ("new", Finish.STOP)],
)
def test_an_answer_may_end_in_several_ways(told: str, finish: Finish) -> None:
    assert row_of(an_answer(finish=told)).finish is finish


def test_an_answer_that_broke_off_is_tried_again_and_was_paid_for() -> None:
    row = row_of(an_answer("hal", finish="error"))

    verdict = judge(row, None)
    assert (verdict.outcome, verdict.again) == (Outcome.FAILED, Again.TRANSIENT)
    assert row.usage == Usage(uncached_input=9, output=2)


def test_tools_that_are_called_come_back_with_arguments_as_text() -> None:
    call = {"id": "abc123def", "function": {"name": "find", "arguments": {"q": 1}}, "index": 0}
    answer = an_answer("", finish="tool_calls")
    answer["choices"][0]["message"]["tool_calls"] = [call]

    message = body_of(row_of(answer))["choices"][0]["message"]

    assert message["tool_calls"][0]["function"] == {"name": "find", "arguments": '{"q": 1}'}


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        (
            {
                "prompt_tokens": 2006,
                "completion_tokens": 300,
                "total_tokens": 2306,
                "prompt_tokens_details": {"cached_tokens": 1920},
            },
            Usage(uncached_input=86, cached_input=1920, output=300),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 12}},
            Usage(uncached_input=0, cached_input=12),
        ),
        ({"prompt_tokens": 5, "completion_tokens": None}, Usage(uncached_input=5)),
        ({"prompt_tokens": None}, None),
        (None, None),
    ],
)
def test_tokens_are_in_one_bucket_each(told: object, usage: Usage | None) -> None:
    assert row_of(an_answer(usage=told)).usage == usage


def test_an_embedding_is_a_vector() -> None:
    body = {
        "id": "e",
        "object": "list",
        "data": [{"object": "embedding", "embedding": [0.5, 1], "index": 0}],
        "model": "mistral-embed",
        "usage": {"prompt_tokens": 4, "total_tokens": 4, "completion_tokens": 0},
    }

    row = row_of(body, endpoint=Endpoint.EMBEDDINGS)

    assert (row.kind, json.loads(row.output or b""), row.usage) == (
        RowKind.ANSWER,
        [0.5, 1],
        Usage(uncached_input=4),
    )


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            an_error(message="File could not be fetched", type="invalid_request_file", code="3310"),
            "invalid_request_file",
            "File could not be fetched",
        ),
        (
            an_error(
                message={"detail": [{"type": "x", "loc": ["body", "n"], "msg": "No"}]},
                type="invalid_request_error",
            ),
            "invalid_request_error",
            "body.n: No",
        ),
        (json.dumps({"detail": [{"loc": ["body", 0], "msg": "Bad"}]}), None, "body.0: Bad"),
        (json.dumps({"detail": "Not Found"}), None, "Not Found"),
        ("upstream timed out", None, None),
        ({"object": "error", "message": "plain", "type": "invalid", "code": "1"}, "invalid", "plain"),
    ],
)
def test_an_error_is_read_out_of_its_string(body: object, code: str | None, message: str | None) -> None:
    row = row_of(body, 400)

    assert (row.kind, row.status, row.code, row.message) == (RowKind.ERROR, 400, code, message)
    assert judge(row, None).again is Again.NEVER


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_trouble_that_passes_is_tried_again(status: int) -> None:
    assert (
        judge(row_of(an_error(message="busy", type="service_error"), status), None).again is Again.TRANSIENT
    )


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[1]",
        b"\xff",
        b'{"custom_id": null, "response": {"status_code": 200, "body": {}}}',
        b'{"custom_id": "k", "response": null, "error": null}',
        b'{"custom_id": "k", "response": {"status_code": 200, "body": {"choices": []}}}',
        b'{"custom_id": "k", "response": {"status_code": 200, "body": "{"}}',
        b'{"id": "b", "custom_id": "k", "response": {"status_code": 200, "bo',
    ],
)
def test_what_makes_no_sense_is_unreadable(line: bytes) -> None:
    assert read_row(Endpoint.CHAT, line).kind is RowKind.UNREADABLE


def test_a_row_that_breaks_off_still_names_its_request() -> None:
    assert read_row(Endpoint.CHAT, b'{"id": "b", "custom_id": "k-1", "response": {"sta').key == "k-1"


# Jobs


def a_job(status: str = "RUNNING", **fields: object) -> BatchJob:
    told = {
        "id": "j-1",
        "object": "batch",
        "input_files": ["f-1"],
        "endpoint": "/v1/chat/completions",
        "model": "m",
        "metadata": {"postern_key": "c-1", "postern_hours": "48"},
        "output_file": None,
        "error_file": None,
        "errors": [],
        "status": status,
        "created_at": 1_780_000_000,
        "total_requests": 10,
        "completed_requests": 6,
        "succeeded_requests": 4,
        "failed_requests": 2,
        **fields,
    }
    return BatchJob.model_validate(told)


@pytest.mark.parametrize(
    ("status", "end"),
    [
        ("QUEUED", None),
        ("RUNNING", None),
        ("CANCELLATION_REQUESTED", None),
        ("SUCCESS", BatchEnd.COMPLETED),
        ("FAILED", BatchEnd.FAILED),
        ("TIMEOUT_EXCEEDED", BatchEnd.EXPIRED),
        ("CANCELLED", BatchEnd.CANCELLED),
    ],
)
def test_every_state_is_ours(status: str, end: BatchEnd | None) -> None:
    job = read_job(a_job(status))

    assert (job.end, job.recognised) == (end, True)
    assert job.state is (RemoteState.ENDED if end else RemoteState.RUNNING)


def test_a_state_nobody_knows_goes_on() -> None:
    job = read_job(a_job("PAUSED_BY_MOON"))

    assert (job.state, job.recognised, job.raw_state) == (RemoteState.RUNNING, False, "PAUSED_BY_MOON")


def test_failed_requests_are_no_completed_ones() -> None:
    job = read_job(a_job())

    assert (job.completed, job.failed) == (4, 2)


def test_a_new_job_does_not_know_its_counts() -> None:
    job = read_job(a_job("QUEUED", total_requests=0, completed_requests=0, succeeded_requests=0))

    assert (job.completed, job.failed) == (None, None)


def test_a_job_out_of_time_keeps_its_files() -> None:
    job = read_job(a_job("TIMEOUT_EXCEEDED", output_file="o-1"))

    assert (job.end, job.output_file, job.error_file) == (BatchEnd.EXPIRED, "o-1", None)


def test_how_long_a_job_may_run_is_in_its_metadata() -> None:
    job = read_job(a_job())

    assert job.expires_at is not None
    assert job.created_at is not None
    assert (job.expires_at - job.created_at).total_seconds() == 48 * 3600


@pytest.mark.parametrize("metadata", [None, {}, {"postern_key": ""}, {"postern_key": 5}])
def test_a_job_without_our_key_is_not_ours(metadata: object) -> None:
    job = read_job(a_job(metadata=metadata))

    assert (job.key, job.expires_at) == (None, None)


def test_messages_of_errors_beside_a_success_are_no_failure_of_the_job() -> None:
    job = read_job(a_job("SUCCESS", errors=[{"message": "Bad image", "count": 2}]))

    assert (job.end, job.message) == (BatchEnd.COMPLETED, None)

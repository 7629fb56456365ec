"""Claude's language: questions into parameters, result lines into rows, batch objects into ours."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.providers.anthropic.answers import read_row
from shared.adapters.providers.anthropic.asked import Translator
from shared.adapters.providers.anthropic.objects import read_batch, read_page
from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.outcomes import Outcome
from shared.domain.rows import Again, Row, RowKind, blames_the_account, judge
from shared.domain.usage import Usage
from shared.ports.providers import RemoteState

KEY = "run-0123456789abcdef"
CHAT, RESPONSES = Endpoint.CHAT, Endpoint.RESPONSES
HELLO = {"role": "user", "content": "hello"}
NEWEST = Translator(model="claude-x", version="2026-10-21")
OLDER = Translator(model="claude-x", version="2023-06-01")
SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer", "minimum": 1}, "name": {"type": "string"}},
    "required": ["age"],
}


# Questions


def asked(**body: object) -> dict[str, Any]:
    return NEWEST.params(CHAT, {"messages": [HELLO], "max_completion_tokens": 9, **body})


def test_a_question_is_asked_in_claudes_words() -> None:
    params = asked(
        messages=[{"role": "system", "content": "Be brief."}, HELLO], stop=["END"], reasoning_effort="low"
    )

    assert params == {
        "model": "claude-x",
        "max_tokens": 9,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": "hello"}],
        "stop_sequences": ["END"],
        "output_config": {"effort": "low"},
    }


def test_a_schema_is_put_into_the_form_that_claude_enforces() -> None:
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}}

    form = asked(response_format=wanted)["output_config"]["format"]

    assert form["type"] == "json_schema"
    assert form["schema"]["additionalProperties"] is False
    assert "minimum" not in form["schema"]["properties"]["age"]
    assert form["schema"]["required"] == ["age"]


def test_a_list_of_types_is_a_choice_of_schemas() -> None:
    schema = {
        "type": "object",
        "properties": {"nick": {"type": ["string", "null"], "description": "if any"}},
        "required": ["nick"],
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}

    form = asked(response_format=wanted)["output_config"]["format"]

    assert form["schema"]["properties"]["nick"] == {
        "description": "if any",
        "anyOf": [{"type": "string"}, {"type": "null"}],
    }


def test_tools_calls_and_results_keep_their_ids() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"a":1}'}}
    messages = [
        HELLO,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    ]
    tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}

    params = asked(messages=messages, tools=[tool], tool_choice="required", parallel_tool_calls=False)

    assert params["messages"][1]["content"] == [
        {"type": "tool_use", "id": "c1", "name": "weather", "input": {"a": 1}}
    ]
    assert params["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": "rain"}
    ]
    assert params["tools"] == [{"name": "weather", "input_schema": SCHEMA}]
    assert params["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}


def test_an_image_is_a_source() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}

    params = asked(messages=[{"role": "user", "content": [image, {"type": "text", "text": "What?"}]}])

    assert params["messages"][0]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"}},
        {"type": "text", "text": "What?"},
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"temperature": 0}, "temperature"),
        ({"top_p": 0.5}, "top_p"),
        ({"seed": 1}, "seed"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {"a": 1}}}},
            "response_format",
        ),
        ({"reasoning_effort": "frantic"}, "reasoning_effort"),
        ({"max_completion_tokens": None}, "max_completion_tokens"),
        ({"logprobs": True}, "logprobs"),
    ],
)
def test_what_claude_refuses_is_objected_to_by_field(body: dict[str, Any], field: str) -> None:
    objection = NEWEST.objection(CHAT, {"messages": [HELLO], "max_completion_tokens": 9, **body})

    assert objection is not None
    assert objection.field == field


def test_an_older_version_takes_sampling_parameters_from_0_to_1() -> None:
    body = {"messages": [HELLO], "max_tokens": 9}

    assert OLDER.objection(CHAT, {**body, "temperature": 0.5}) is None
    assert OLDER.params(CHAT, {**body, "temperature": 0.5})["temperature"] == 0.5
    assert OLDER.objection(CHAT, {**body, "temperature": 1.5}) is not None


def test_a_missing_limit_is_named_as_the_endpoint_calls_it() -> None:
    objection = NEWEST.objection(RESPONSES, {"input": "hello"})

    assert objection is not None
    assert objection.field == "max_output_tokens"


# Rows


def a_row(result: object, endpoint: Endpoint = CHAT) -> Row:
    return read_row(endpoint, json.dumps({"custom_id": KEY, "result": result}).encode())


def a_message(*content: object, stop: str | None = "end_turn", usage: object = None, **more: object) -> Any:
    told = {"input_tokens": 11, "output_tokens": 3} if usage is None else usage
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x-1", "usage": told}
    return {
        "type": "succeeded",
        "message": {**message, "content": list(content), "stop_reason": stop, **more},
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def errored(kind: str, message: str = "no") -> Any:
    return {"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": message}}}


@pytest.mark.parametrize("endpoint", [CHAT, RESPONSES])
def test_an_answer_has_openais_shape(endpoint: Endpoint) -> None:
    row = a_row(a_message(text("hi"), text(" there")), endpoint)

    assert (row.key, row.kind, row.text) == (KEY, RowKind.ANSWER, "hi there")
    assert row.body is not None
    body = msgspec.json.decode(row.body)
    assert (body["id"], body["model"]) == ("msg_1", "claude-x-1")


def test_cached_tokens_are_beside_the_input_and_not_in_it() -> None:
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 12304,
        "cache_read_input_tokens": 0,
        "output_tokens": 550,
    }

    row = a_row(a_message(text("hi"), usage=usage))

    assert row.usage == Usage(uncached_input=3, cache_write=12304, output=550)
    assert row.usage.input == 12307


def test_thinking_is_part_of_the_output() -> None:
    usage = {"input_tokens": 5, "output_tokens": 1000, "output_tokens_details": {"thinking_tokens": 800}}

    row = a_row(a_message(text("hi"), usage=usage))

    assert row.usage == Usage(uncached_input=5, output=1000, reasoning=800)


@pytest.mark.parametrize("usage", [{}, {"input_tokens": -1, "output_tokens": 1}, "many"])
def test_a_report_that_makes_no_sense_is_unknown_and_the_answer_stays(usage: object) -> None:
    row = a_row(a_message(text("hi"), usage=usage))

    assert (row.text, row.usage) == ("hi", None)


@pytest.mark.parametrize(
    ("result", "outcome", "reason", "again"),
    [
        (a_message(text("hi")), Outcome.SUCCEEDED, None, Again.NEVER),
        (a_message(text("hi"), stop="max_tokens"), Outcome.TRUNCATED, "max_tokens", Again.NEVER),
        (
            a_message(text("hi"), stop="model_context_window_exceeded"),
            Outcome.TRUNCATED,
            "max_tokens",
            Again.NEVER,
        ),
        (a_message(stop="refusal"), Outcome.REFUSED, "content_filter", Again.NEVER),
        (
            a_message(stop="refusal", stop_details={"type": "refusal", "category": "bio"}),
            Outcome.REFUSED,
            "refusal",
            Again.NEVER,
        ),
        (errored("invalid_request_error"), Outcome.FAILED, "invalid_request", Again.NEVER),
        (
            errored("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            Outcome.FAILED,
            "context_length_exceeded",
            Again.NEVER,
        ),
        (
            errored("invalid_request_error", "Output blocked by content filtering policy"),
            Outcome.REFUSED,
            "content_filter",
            Again.NEVER,
        ),
        (errored("rate_limit_error"), Outcome.FAILED, "rate_limited", Again.TRANSIENT),
        (errored("timeout_error"), Outcome.FAILED, "timeout", Again.TRANSIENT),
        (errored("api_error"), Outcome.FAILED, "provider_error", Again.TRANSIENT),
        (errored("overloaded_error"), Outcome.FAILED, "provider_error", Again.TRANSIENT),
        (errored("unheard_of_error"), Outcome.FAILED, "provider_error", Again.TRANSIENT),
        ({"type": "canceled"}, Outcome.CANCELLED, None, Again.NEVER),
        ({"type": "expired"}, Outcome.EXPIRED, None, Again.TRANSIENT),
        ({"type": "paused"}, Outcome.FAILED, "unreadable", Again.TRANSIENT),
        ({"type": "succeeded", "message": {}}, Outcome.FAILED, "unreadable", Again.TRANSIENT),
    ],
    ids=str,
)
def test_every_type_of_result_has_its_outcome(
    result: Any, outcome: Outcome, reason: str | None, again: Again
) -> None:
    row = a_row(result)
    verdict = judge(row, None)

    assert row.key == KEY
    assert (verdict.outcome, verdict.reason, verdict.again) == (outcome, reason, again)


def test_an_unknown_type_of_result_is_told() -> None:
    assert "paused" in (a_row({"type": "paused"}).message or "")


@pytest.mark.parametrize(
    "result",
    [
        errored("billing_error"),
        errored("authentication_error"),
        errored("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    ],
)
def test_an_empty_account_is_told_apart_from_a_bad_request(result: Any) -> None:
    row = a_row(result)

    assert blames_the_account(row)
    assert judge(row, None).again is Again.TRANSIENT


def test_a_tool_call_comes_back_as_openais() -> None:
    row = a_row(
        a_message({"type": "tool_use", "id": "t1", "name": "weather", "input": {"a": 1}}, stop="tool_use")
    )

    assert row.body is not None
    choice = msgspec.json.decode(row.body)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    called = choice["message"]["tool_calls"][0]["function"]
    assert (called["name"], json.loads(called["arguments"])) == ("weather", {"a": 1})


@given(st.binary(max_size=200))
def test_no_line_makes_the_reader_raise(line: bytes) -> None:
    assert read_row(CHAT, line).kind is RowKind.UNREADABLE


# Batches


def a_batch(status: str, *, processing: int = 0, **counts: int) -> bytes:
    told = {"succeeded": 0, "errored": 0, "canceled": 0, "expired": 0, **counts, "processing": processing}
    return json.dumps(
        {
            "id": "msgbatch_1",
            "processing_status": status,
            "request_counts": told,
            "created_at": "2026-11-01T00:00:00.000000Z",
            "expires_at": "2026-11-02T00:00:00.000000Z",
            "results_url": "https://api.anthropic.com/r" if status == "ended" else None,
        }
    ).encode()


@pytest.mark.parametrize(
    ("counts", "end"),
    [
        ({"succeeded": 5}, BatchEnd.COMPLETED),
        ({"errored": 5}, BatchEnd.COMPLETED),
        ({"succeeded": 2, "expired": 3}, BatchEnd.EXPIRED),
        ({"succeeded": 2, "canceled": 3}, BatchEnd.CANCELLED),
    ],
)
def test_the_counters_say_how_a_batch_ended(counts: dict[str, int], end: BatchEnd) -> None:
    batch = read_batch(a_batch("ended", **counts)).batch

    assert (batch.state, batch.end, batch.requests) == (RemoteState.ENDED, end, 5)
    assert batch.created_at == datetime(2026, 11, 1, tzinfo=UTC)


def test_counters_that_stay_at_nothing_until_the_end_say_nothing() -> None:
    running = read_batch(a_batch("in_progress", processing=5)).batch
    gradual = read_batch(a_batch("in_progress", processing=3, succeeded=2)).batch

    assert (running.completed, running.failed, running.requests) == (None, None, 5)
    assert (gradual.completed, gradual.failed) == (2, 0)


@pytest.mark.parametrize(
    ("status", "known"), [("in_progress", True), ("canceling", True), ("hibernating", False)]
)
def test_only_ended_is_an_end(status: str, known: bool) -> None:
    found = read_batch(a_batch(status, processing=1))

    assert (found.batch.state, found.batch.recognised) == (RemoteState.RUNNING, known)
    assert not found.has_results


def test_the_last_page_has_no_cursor() -> None:
    one = a_batch("in_progress", processing=1).decode()

    assert read_page(f'{{"data":[{one}],"has_more":true}}'.encode()).after == "msgbatch_1"
    assert read_page(f'{{"data":[{one}],"has_more":false}}'.encode()).after is None

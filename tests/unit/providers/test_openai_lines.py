"""Lines of OpenAI's batch format, with what was seen in the field."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.providers.openai.lines import read_row, write_line
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Again, Finish, Row, RowKind, judge
from shared.domain.usage import Usage

KEY = "run-0123456789abcdef"


def a_line(body: object, *, status: object = 200, error: object = None, custom_id: object = KEY) -> bytes:
    return json.dumps(
        {
            "id": "batch_req_1",
            "custom_id": custom_id,
            "response": {"status_code": status, "request_id": "r", "body": body},
            "error": error,
        }
    ).encode()


def a_chat(
    content: object = "hi", *, finish: object = "stop", refusal: object = None, usage: object = None
) -> Any:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
                "finish_reason": finish,
            }
        ],
        "usage": usage,
    }


def chat_row(body: object, **line: object) -> Row:
    return read_row(Endpoint.CHAT, a_line(body, **line))


def response_row(**body: object) -> Row:
    return read_row(Endpoint.RESPONSES, a_line({"object": "response", "status": "completed", **body}))


def said(*parts: dict[str, object]) -> list[dict[str, object]]:
    return [{"type": "reasoning", "summary": []}, {"type": "message", "content": list(parts)}]


def test_a_chat_answer_is_read_whole() -> None:
    body = a_chat("Grüße\n", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10})

    row = chat_row(body)

    assert row.key == KEY
    assert row.kind is RowKind.ANSWER
    assert (row.status, row.text, row.finish, row.refusal) == (200, "Grüße\n", Finish.STOP, None)
    assert row.output is not None
    assert msgspec.json.decode(row.output) == "Grüße\n"
    assert row.usage == Usage(uncached_input=9, output=1)
    assert row.body is not None
    assert json.loads(row.body) == body


def test_usage_falls_into_disjoint_buckets() -> None:
    usage = {
        "prompt_tokens": 2006,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 1920},
        "completion_tokens_details": {"reasoning_tokens": 200},
    }

    row = chat_row(a_chat(usage=usage))

    assert row.usage == Usage(uncached_input=86, cached_input=1920, output=300, reasoning=200)


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], "9", {"prompt_tokens": "9"}, {"prompt_tokens": 10**30}, {"prompt_tokens": None}],
    ids=repr,
)
def test_an_answer_with_odd_token_counts_is_an_answer_of_unknown_usage(usage: object) -> None:
    row = chat_row(a_chat("hi", usage=usage))

    assert (row.kind, row.text, row.usage) == (RowKind.ANSWER, "hi", None)


def test_more_cached_tokens_than_tokens_never_give_a_negative_bucket() -> None:
    row = chat_row(a_chat(usage={"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}))

    assert row.usage == Usage(uncached_input=0, cached_input=9)


def test_null_details_are_no_details() -> None:
    usage = {"prompt_tokens": 5, "prompt_tokens_details": None, "completion_tokens_details": None}

    assert chat_row(a_chat(usage=usage)).usage == Usage(uncached_input=5)


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("length", Finish.LENGTH),
        ("content_filter", Finish.CONTENT_FILTER),
        ("tool_calls", Finish.STOP),
        (None, Finish.STOP),
    ],
)
def test_how_a_chat_answer_ended(finish: object, expected: Finish) -> None:
    assert chat_row(a_chat(finish=finish)).finish is expected


def test_a_refusal_is_kept_apart_from_the_text() -> None:
    row = chat_row(a_chat(None, refusal="I cannot help with that."))

    assert (row.text, row.output, row.refusal) == (None, None, "I cannot help with that.")


def test_content_in_parts_is_joined() -> None:
    assert chat_row(a_chat([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])).text == "ab"


def test_an_error_row_whose_error_is_null_is_an_error_by_its_status() -> None:
    body = {"error": {"message": "Invalid value", "type": "invalid_request_error", "code": None}}

    row = chat_row(body, status=400)

    assert (row.kind, row.status, row.code, row.message) == (RowKind.ERROR, 400, None, "Invalid value")


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"error": {"code": "context_length_exceeded", "message": "m"}}, "context_length_exceeded", "m"),
        ({"error": {"code": 400, "message": "m"}}, None, "m"),
        ({"error": {"code": "400", "message": "m"}}, None, "m"),
        ({"error": {"code": "not a name: " + "x" * 400, "message": "m"}}, None, "m"),
        ({"error": {"code": "c", "message": {"deep": 1}}}, "c", None),
        ({"error": "boom"}, None, "boom"),
        ({"statusCode": 429, "message": "slow down"}, None, "slow down"),
        ("plain text", None, "plain text"),
        ([1, 2, 3], None, None),
        (None, None, None),
        ({}, None, None),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_error_bodies_of_every_shape(body: object, code: str | None, message: str | None) -> None:
    row = chat_row(body, status=422)

    assert (row.kind, row.status, row.code, row.message) == (RowKind.ERROR, 422, code, message)


def test_a_long_complaint_is_cut() -> None:
    row = chat_row({"error": {"code": "c", "message": "m" * 100_000}}, status=400)

    assert row.message == "m" * 500


@pytest.mark.parametrize(
    "error",
    [
        {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": None, "innererror": {"code": "ResponsibleAIPolicyViolation"}},
        {"code": "content_filter", "innererror": None},
        {"code": "content_policy_violation"},
        {"code": "ResponsibleAIPolicyViolation"},
    ],
    ids=json.dumps,
)
def test_a_blocked_prompt_is_a_refusal(error: dict[str, object]) -> None:
    row = chat_row({"error": {"message": "filtered", "status": 400, **error}}, status=400)

    verdict = judge(row, None)
    assert (verdict.outcome, verdict.reason) == (Outcome.REFUSED, "content_filter")


@pytest.mark.parametrize(
    ("code", "outcome"), [("content_filter", Outcome.REFUSED), ("server_error", Outcome.FAILED)]
)
def test_an_error_under_a_good_status_is_an_error(code: str, outcome: Outcome) -> None:
    row = chat_row({"error": {"code": code, "message": "m"}}, status=200)

    assert (row.kind, judge(row, None).outcome) == (RowKind.ERROR, outcome)


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        ("batch_expired", RowKind.EXPIRED, None),
        ("batch_cancelled", RowKind.CANCELLED, None),
        ("request_timeout", RowKind.ERROR, "timeout"),
        ("anything_new", RowKind.ERROR, "provider_error"),
    ],
)
def test_rows_that_never_ran(code: str, kind: RowKind, reason: str | None) -> None:
    line = {"id": "b", "custom_id": KEY, "response": None, "error": {"code": code, "message": "m"}}

    row = read_row(Endpoint.CHAT, json.dumps(line).encode())

    assert (row.key, row.kind, judge(row, None).reason) == (KEY, kind, reason)


@pytest.mark.parametrize(
    "line",
    [
        a_line({}),
        a_line(None),
        a_line(""),
        a_line([1, 2, 3]),
        a_line("a string"),
        a_line(a_chat(), status=0),
        a_line(a_chat(), status=None),
        a_line({"choices": []}),
        a_line({"choices": [{"finish_reason": "stop"}]}),
        a_line({"choices": [{"message": {"content": 7}}]}),
        json.dumps({"custom_id": KEY}).encode(),
        json.dumps({"custom_id": KEY, "response": None, "error": None}).encode(),
        json.dumps({"custom_id": KEY, "response": "x"}).encode(),
        json.dumps({"response": "x", "custom_id": KEY}).encode(),
        a_line(a_chat("x" * 100))[:-60],
        a_line(a_chat("caf\xe9")).replace(b"\\u00e9", b"\xe9"),
        a_line(a_chat()).replace(b"chatcmpl-1", b"chatcmpl-\xe9"),
        a_line(a_chat()).replace(b'"hi"', b"NaN"),
        a_line("deep").replace(b'"deep"', b"[" * 100_000 + b"]" * 100_000),
    ],
    ids=lambda line: line[:160].decode("latin-1"),
)
def test_a_row_that_cannot_be_read_still_says_whose_it_is(line: bytes) -> None:
    row = read_row(Endpoint.CHAT, line)

    assert (row.key, row.kind) == (KEY, RowKind.UNREADABLE)
    assert row.message
    assert judge(row, None).again is Again.TRANSIENT


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[1,2,3]",
        b'"x"',
        b"{",
        b"\xff\xfe",
        b"\x00" * 10,
        b'{"response": null}',
        a_line(a_chat(), custom_id=7),
        a_line(a_chat(), custom_id=None),
        # What looks like a key inside an answer is not whose answer it is.
        b'{"response": {"status_code": 200, "body": {"custom_id": "' + KEY.encode() + b'", "choi',
    ],
    ids=lambda line: line[:80].decode("latin-1"),
)
def test_a_line_that_names_nobody_belongs_to_nobody(line: bytes) -> None:
    row = read_row(Endpoint.CHAT, line)

    assert (row.key, row.kind) == (None, RowKind.UNREADABLE)


def test_why_a_row_is_unreadable_never_quotes_it() -> None:
    secret = "the patient is called Ana"
    lines = [a_line({"choices": secret}), a_line(a_chat(secret))[:-20], a_line({secret: []}), secret.encode()]

    assert not any(secret in (read_row(Endpoint.CHAT, line).message or "") for line in lines)


def test_half_an_emoji_costs_one_character_and_not_the_answer() -> None:
    body = a_chat("cut \ud83d") | {"logprobs": "\ude00", "kept": "\U0001f600 \\ud83d"}

    row = chat_row(body)

    assert row.text == "cut \ufffd"
    assert row.body is not None
    assert msgspec.json.decode(row.body)["logprobs"] == "\ufffd"
    assert msgspec.json.decode(row.body)["kept"] == "\U0001f600 \\ud83d"


def test_a_line_keeps_every_line_break_of_unicode_inside_its_text() -> None:
    text = "a\u2028b\u2029c\x85d\re\x0bf"

    assert chat_row(a_chat(text)).text == text


def test_a_byte_order_mark_and_a_carriage_return_are_not_part_of_the_row() -> None:
    assert read_row(Endpoint.CHAT, b"\xef\xbb\xbf" + a_line(a_chat("hi")) + b"\r\n").text == "hi"


def test_a_responses_answer_is_read_whole() -> None:
    row = response_row(
        output=said({"type": "output_text", "text": "a"}, {"type": "output_text", "text": "b"}),
        usage={
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 10},
        },
    )

    assert (row.kind, row.text, row.output, row.finish) == (RowKind.ANSWER, "ab", b'"ab"', Finish.STOP)
    assert row.usage == Usage(uncached_input=12, cached_input=5, cache_write=3, output=30, reasoning=10)


def test_a_responses_refusal_is_a_refusal() -> None:
    assert response_row(output=said({"type": "refusal", "refusal": "no"})).refusal == "no"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", Finish.LENGTH), ("content_filter", Finish.CONTENT_FILTER), (None, Finish.LENGTH)],
)
def test_why_a_responses_answer_is_incomplete(reason: str | None, finish: Finish) -> None:
    details = {"reason": reason} if reason else None

    row = response_row(status="incomplete", incomplete_details=details, output=said())

    assert (row.finish, row.text) == (finish, None)


@pytest.mark.parametrize(
    ("code", "outcome", "reason"),
    [
        ("server_error", Outcome.FAILED, "provider_error"),
        ("rate_limit_exceeded", Outcome.FAILED, "rate_limited"),
        ("invalid_prompt", Outcome.FAILED, "invalid_prompt"),
        (None, Outcome.FAILED, "provider_error"),
    ],
)
def test_a_response_that_failed_inside_a_200_is_an_error(
    code: str | None, outcome: Outcome, reason: str
) -> None:
    row = response_row(status="failed", output=[], error={"code": code, "message": "m"})

    verdict = judge(row, None)
    assert (row.kind, verdict.outcome, verdict.reason) == (RowKind.ERROR, outcome, reason)


def test_a_response_that_is_still_running_is_no_answer() -> None:
    assert response_row(status="in_progress", output=[]).kind is RowKind.UNREADABLE


def test_a_vector_is_passed_through_digit_by_digit() -> None:
    line = (
        b'{"custom_id":"%b","response":{"status_code":200,"body":{"data":[{"index":0,"embedding":'
        b'[0.10000000000000000555,-1e-9, 3]}],"usage":{"prompt_tokens":4,"total_tokens":4}}},"error":null}'
    ) % KEY.encode()

    row = read_row(Endpoint.EMBEDDINGS, line)

    assert row.output == b"[0.10000000000000000555,-1e-9, 3]"
    assert row.usage == Usage(uncached_input=4)


def test_several_vectors_come_in_the_order_of_their_index() -> None:
    data = [{"index": 1, "embedding": [2]}, {"index": 0, "embedding": [1]}]

    assert read_row(Endpoint.EMBEDDINGS, a_line({"data": data})).output == b"[[1],[2]]"


@pytest.mark.parametrize("data", [[], [{"index": 0, "embedding": []}], [{"index": 0, "embedding": None}]])
def test_no_vector_is_no_answer(data: list[object]) -> None:
    assert read_row(Endpoint.EMBEDDINGS, a_line({"data": data})).kind is RowKind.UNREADABLE


@pytest.mark.parametrize("endpoint", Endpoint)
@given(line=st.binary(max_size=200))
def test_no_bytes_whatsoever_make_it_raise(endpoint: Endpoint, line: bytes) -> None:
    assert read_row(endpoint, line).kind is RowKind.UNREADABLE


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_fields = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("choices", "output", "data", "usage", "status", "error", "incomplete_details", "code"), _json
    ),
)


@pytest.mark.parametrize("endpoint", Endpoint)
@given(body=_fields | _json, status=st.sampled_from([0, 200, 400, 500, None, "200"]), error=_json)
def test_no_json_whatsoever_makes_it_raise(
    endpoint: Endpoint, body: object, status: object, error: object
) -> None:
    row = read_row(endpoint, a_line(body, status=status, error=error))

    assert row.key == KEY
    judge(row, None)


def test_a_request_is_one_line_under_its_key_with_the_deployments_model() -> None:
    body = {"model": "summarize", "messages": [{"role": "user", "content": "a\nb\u2028c"}]}

    line = write_line(RequestKey("k-1"), url="/v1/chat/completions", model="mini-batch", body=body)

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "custom_id": "k-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {**body, "model": "mini-batch"},
    }
    assert body["model"] == "summarize"

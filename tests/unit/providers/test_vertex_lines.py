"""Lines of Vertex AI's batches, in and out."""

import json
from typing import Any

import pytest

from shared.adapters.providers.google.vertex_lines import read_row, write_line
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Again, Finish, Row, RowKind, judge
from shared.domain.usage import Usage

MODEL = "gemini-3.8-flash"
ASKED = {"messages": [{"role": "user", "content": "Hello"}]}


def answer(text: str | None = "Hi", finish: str = "STOP", **more: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]} if text is not None else {"role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": finish, **more}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 3, "totalTokenCount": 13},
        "modelVersion": MODEL,
        "createTime": "2026-11-30T12:00:00.5Z",
        "responseId": "r1",
    }


def line(response: object, *, status: str = "", key: object = "k-run-1") -> bytes:
    row = {"custom_id": key, "status": status, "processed_time": "..", "request": {}, "response": response}
    return json.dumps(row).encode()


def read(response: object, **more: Any) -> Row:
    return read_row(Endpoint.CHAT, line(response, **more))


@pytest.mark.parametrize("key", ["run-1", "000000", "1e5", "k-1", "2026-11-30"])
def test_a_key_goes_out_with_letters_before_it_and_comes_back_as_it_was(key: str) -> None:
    sent = json.loads(write_line(MODEL, RequestKey(key), Endpoint.CHAT, ASKED))

    row = read(answer(), key=sent["custom_id"])

    assert sent["custom_id"].startswith("k-")
    assert row.key == key


def test_a_line_is_one_line_and_names_no_model() -> None:
    sent = write_line(
        MODEL, RequestKey("a"), Endpoint.CHAT, {"messages": [{"role": "user", "content": "a\nb"}]}
    )

    assert sent.count(b"\n") == 1
    assert set(json.loads(sent)) == {"custom_id", "request"}
    assert MODEL.encode() not in sent


def test_an_answer_has_the_shape_of_openai() -> None:
    row = read(answer("one\u2028two"))

    assert row.body is not None
    body = json.loads(row.body)
    assert (row.kind, row.text, row.finish) == (RowKind.ANSWER, "one\u2028two", Finish.STOP)
    assert body["object"] == "chat.completion"
    assert (body["id"], body["model"], body["created"]) == ("r1", MODEL, 1796040000)
    assert body["choices"][0]["message"]["content"] == "one\u2028two"
    assert body["usage"]["total_tokens"] == 13


def test_a_response_has_the_shape_of_a_response() -> None:
    row = read_row(Endpoint.RESPONSES, line(answer()))

    assert row.body is not None
    assert json.loads(row.body)["output"][0]["content"][0]["text"] == "Hi"


@pytest.mark.parametrize(
    ("report", "usage"),
    [
        (
            {"promptTokenCount": 2006, "cachedContentTokenCount": 1920, "candidatesTokenCount": 300},
            Usage(uncached_input=86, cached_input=1920, output=300),
        ),
        # Thoughts are beside what is seen, and billed with it.
        (
            {"promptTokenCount": 5, "candidatesTokenCount": 200, "thoughtsTokenCount": 800},
            Usage(uncached_input=5, output=1000, reasoning=800),
        ),
        (
            {"promptTokenCount": 5, "toolUsePromptTokenCount": 7, "candidatesTokenCount": 1},
            Usage(uncached_input=12, output=1),
        ),
        ({"promptTokenCount": 3, "cachedContentTokenCount": 9}, Usage(cached_input=9)),
        (None, None),
        ("broken", None),
        ({"promptTokenCount": -1}, None),
        ({"promptTokenCount": 10**30}, None),
    ],
)
def test_tokens_are_counted_in_buckets_that_do_not_overlap(report: object, usage: Usage | None) -> None:
    assert read({**answer(), "usageMetadata": report}).usage == usage


@pytest.mark.parametrize(
    "response",
    [
        {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}},
        *(
            answer("Half", reason)
            for reason in ("SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR")
        ),
        answer(None, "SAFETY"),
    ],
)
def test_what_a_filter_stopped_is_refused(response: dict[str, Any]) -> None:
    row = read(response)

    verdict = judge(row, None)
    assert (verdict.outcome, verdict.reason) == (Outcome.REFUSED, "content_filter")
    assert row.usage is not None


def test_an_answer_that_the_model_broke_off_is_a_refusal() -> None:
    verdict = judge(read(answer(None, "RECITATION", finishMessage="I know that text.")), None)

    assert (verdict.outcome, verdict.reason) == (Outcome.REFUSED, "refusal")
    assert verdict.message == "I know that text."


def test_a_budget_spent_on_thoughts_is_told_from_half_an_answer() -> None:
    thought = {
        **answer(None, "MAX_TOKENS"),
        "usageMetadata": {"promptTokenCount": 4, "thoughtsTokenCount": 64},
    }

    assert judge(read(answer("Half", "MAX_TOKENS")), None).reason == "max_tokens"
    assert judge(read(thought), None).reason == "reasoning"


def test_thoughts_that_are_shown_are_no_part_of_the_answer() -> None:
    parts = [{"text": "Hm.", "thought": True}, {"text": "Hi"}, {"text": "!"}]
    told = answer()
    told["candidates"][0]["content"]["parts"] = parts

    assert read(told).text == "Hi!"


def test_a_tool_that_is_called_is_an_answer() -> None:
    told = answer()
    told["candidates"][0]["content"]["parts"] = [{"functionCall": {"name": "look", "args": {"at": [1]}}}]

    row = read(told)

    assert row.body is not None
    choice = json.loads(row.body)["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    function = choice["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("look", {"at": [1]})


def test_an_answer_that_came_to_nothing_may_do_better_another_time() -> None:
    verdict = judge(read(answer(None, "MALFORMED_FUNCTION_CALL")), None)

    assert (verdict.outcome, verdict.again) == (Outcome.FAILED, Again.TRANSIENT)


@pytest.mark.parametrize(
    ("status", "reason", "again"),
    [
        (
            'Bad Request: {"error": {"code": 400, "message": "No.", "status": "INVALID_ARGUMENT"}}',
            "invalid_request",
            Again.NEVER,
        ),
        (
            (
                'Bad Request: {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token'
                ' count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}'
            ),
            "context_length_exceeded",
            Again.NEVER,
        ),
        (
            'Too Many Requests: {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": ""}}',
            "rate_limited",
            Again.TRANSIENT,
        ),
        # Told of one request, and true of the account: no tenant's fault.
        (
            'Forbidden: {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "Billing is off."}}',
            "provider_error",
            Again.TRANSIENT,
        ),
        ('Internal: {"error": {"code": 500, "status": "INTERNAL"}}', "provider_error", Again.TRANSIENT),
        ("Bad Request: <html>", "invalid_request", Again.NEVER),
        ("Something nobody has heard of", "provider_error", Again.TRANSIENT),
        ('X: {"error": []}', "provider_error", Again.TRANSIENT),
    ],
)
def test_a_row_with_a_status_is_an_error_whatever_stands_beside_it(
    status: str, reason: str, again: Again
) -> None:
    row = read(answer(), status=status)

    verdict = judge(row, None)
    assert (row.key, row.kind) == ("run-1", RowKind.ERROR)
    assert (verdict.outcome, verdict.reason, verdict.again) == (Outcome.FAILED, reason, again)


@pytest.mark.parametrize("response", [{}, None, [], "text", {"candidates": []}, {"candidates": "x"}])
def test_a_row_without_an_answer_is_unreadable_and_keeps_its_key(response: object) -> None:
    row = read(response)

    assert (row.kind, row.key) == (RowKind.UNREADABLE, "run-1")


@pytest.mark.parametrize(
    "raw",
    [
        line(answer())[:-40],
        line(answer()).replace(b'"Hi"', b'"\xff\xfe"'),
    ],
)
def test_a_damaged_row_keeps_its_key(raw: bytes) -> None:
    row = read_row(Endpoint.CHAT, raw)

    assert (row.kind, row.key) == (RowKind.UNREADABLE, "run-1")


@pytest.mark.parametrize("key", [0, 1.5, None, ["k-1"]])
def test_a_key_that_is_none_of_ours_is_nobodys(key: object) -> None:
    assert (read(answer(), key=key).kind, read(answer(), key=key).key) == (RowKind.UNREADABLE, None)


def test_an_alien_row_is_not_taken_for_one_of_ours() -> None:
    assert read(answer(), key="else-1").key == "else-1"

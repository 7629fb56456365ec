"""The verdict on every kind of row: which outcome, which reason, and whether another try may change it."""

import pytest

from shared.domain.ids import RequestKey
from shared.domain.outcomes import TRANSIENT_REASONS, Outcome, is_final
from shared.domain.rows import MAX_MESSAGE, Again, Finish, Flaw, Judgement, Row, RowKind, judge
from shared.domain.usage import Usage

KEY = RequestKey("run-1")


def answer(text: str = "hello", **more: object) -> Row:
    return Row(key=KEY, kind=RowKind.ANSWER, text=text, output=b'"hello"', **more)  # type: ignore[arg-type]


def error(status: int | None, code: str | None = None) -> Row:
    return Row(key=KEY, kind=RowKind.ERROR, status=status, code=code, message=" it broke ")


def accepts(text: str) -> bytes:
    return b'{"checked":true}'


def complains(text: str) -> Flaw:
    return Flaw(reason="schema", message="x" * 2000)


def verdict(row: Row) -> tuple[str, str | None, str]:
    judgement = judge(row, None)
    return judgement.outcome.value, judgement.reason, judgement.again.value


def test_an_answer_is_a_success_and_handed_out() -> None:
    assert judge(answer(), None) == Judgement(outcome=Outcome.SUCCEEDED, output=b'"hello"')


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (error(400, "content_filter"), ("refused", "content_filter", "never")),
        (error(None, "content_filter"), ("refused", "content_filter", "never")),
        (error(429, "rate_limit_exceeded"), ("failed", "rate_limited", "transient")),
        (error(408), ("failed", "timeout", "transient")),
        (error(504), ("failed", "timeout", "transient")),
        (error(400, "request_timeout"), ("failed", "timeout", "transient")),
        (error(500, "server_error"), ("failed", "provider_error", "transient")),
        (error(503), ("failed", "provider_error", "transient")),
        (error(None), ("failed", "provider_error", "transient")),
        (error(0), ("failed", "provider_error", "transient")),
        (error(200), ("failed", "provider_error", "transient")),
        (error(400, "context_length_exceeded"), ("failed", "context_length_exceeded", "never")),
        (error(404), ("failed", "invalid_request", "never")),
        (error(401, "authentication_error"), ("failed", "provider_error", "transient")),
        (error(402, "billing_error"), ("failed", "provider_error", "transient")),
        (error(403), ("failed", "provider_error", "transient")),
        (answer(finish=Finish.CONTENT_FILTER), ("refused", "content_filter", "never")),
        (answer(refusal="I cannot"), ("refused", "refusal", "never")),
        (answer(finish=Finish.LENGTH), ("truncated", "max_tokens", "never")),
        (
            answer("", finish=Finish.LENGTH, usage=Usage(output=9, reasoning=9)),
            ("truncated", "reasoning", "never"),
        ),
        (answer("", finish=Finish.LENGTH, usage=Usage(output=9)), ("truncated", "max_tokens", "never")),
        (Row(key=KEY, kind=RowKind.EXPIRED), ("expired", None, "transient")),
        (Row(key=KEY, kind=RowKind.CANCELLED), ("cancelled", None, "never")),
        (Row(key=None, kind=RowKind.UNREADABLE), ("failed", "unreadable", "transient")),
    ],
    ids=str,
)
def test_a_row_is_judged_by_status_and_code(row: Row, expected: tuple[str, str | None, str]) -> None:
    assert verdict(row) == expected


@pytest.mark.parametrize("status", [None, 0, 200, 400, 401, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529])
def test_what_is_tried_again_and_what_may_be_bought_again_are_the_same(status: int | None) -> None:
    judgement = judge(error(status), None)

    assert (judgement.again is Again.TRANSIENT) is (judgement.reason in TRANSIENT_REASONS)
    assert (judgement.again is Again.NEVER) is is_final(judgement.outcome, judgement.reason)


def test_a_truncated_text_is_handed_out_and_a_truncated_object_is_not() -> None:
    cut = answer('{"half": ', finish=Finish.LENGTH, usage=Usage(output=400))

    assert judge(cut, None).output == b'"hello"'
    assert judge(cut, accepts).output is None
    assert "400 output tokens" in (judge(cut, None).message or "")


def test_an_object_is_handed_out_as_it_was_checked() -> None:
    assert judge(answer('{"checked": true}'), accepts).output == b'{"checked":true}'


def test_an_object_that_does_not_fit_the_schema_may_be_repaired() -> None:
    judgement = judge(answer(), complains)

    assert (judgement.outcome, judgement.reason, judgement.again) == (Outcome.INVALID, "schema", Again.REPAIR)
    assert judgement.output is None
    assert len(judgement.message or "") == MAX_MESSAGE


def test_a_refusal_is_not_checked_against_the_schema() -> None:
    assert judge(answer(refusal="I cannot"), complains).outcome is Outcome.REFUSED


def test_a_providers_prose_is_kept_short() -> None:
    long = Row(key=KEY, kind=RowKind.ERROR, status=400, message="x" * 100_000)

    assert len(judge(long, None).message or "") == MAX_MESSAGE
    assert judge(error(400), None).message == "it broke"

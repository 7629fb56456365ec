"""A settled line becomes a result line without being read, and says the same as before."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import RequestKey
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.usage import Spend, Usage
from shared.wire.results import (
    at_position,
    head,
    read_result,
    read_settled,
    repeated,
    settled_line,
    usage_of,
    verdict,
    with_custom_id,
)

KEY = RequestKey("2026-11-30-0123456789abcdef0123456789abcdef")
USAGE = Usage(uncached_input=70, cached_input=20, cache_write=10, output=9, reasoning=4)
SPEND = Spend(amount=Decimal("0.0000120"), standard=Decimal("0.000024"))
ANSWER = Judgement(outcome=Outcome.SUCCEEDED, output=b'"Hello"')
FAILURE = Judgement(outcome=Outcome.FAILED, reason="context_length_exceeded", message='too "long"')

# What a tenant's answer might hold to confuse whoever looks for our own marks in it.
TRICKY = '","usage":{},"r":{"p":1,"k":"x","custom_id":"y"}} \u2028\n\x00😀'


def settled(
    judgement: Judgement = ANSWER, *, response: bytes | None = b'{"id":"c","usage":{"x":1}}'
) -> bytes:
    return settled_line(
        position=17,
        key=KEY,
        judgement=judgement,
        response=response,
        usage=USAGE,
        spend=SPEND,
        provider="azure_openai",
        model="gpt-5-mini",
        attempts=2,
    )


def test_a_result_line_is_the_contracts() -> None:
    line = with_custom_id(settled(), "ticket-88412")
    assert json.loads(line) == {
        "custom_id": "ticket-88412",
        "outcome": "succeeded",
        "reason": None,
        "message": None,
        "output": "Hello",
        "response": {"id": "c", "usage": {"x": 1}},
        "usage": {
            "input_tokens": 100,
            "cached_input_tokens": 20,
            "cache_write_tokens": 10,
            "output_tokens": 9,
            "reasoning_tokens": 4,
        },
        "cost": {"amount": "0.000012", "currency": "USD"},
        "provider": "azure_openai",
        "model": "gpt-5-mini",
        "attempts": 2,
        "reused": False,
    }
    assert list(json.loads(line))[:3] == ["custom_id", "outcome", "reason"]


def test_what_is_not_known_is_null_and_never_zero() -> None:
    line = settled_line(
        position=1,
        key=KEY,
        judgement=FAILURE,
        response=None,
        usage=None,
        spend=None,
        provider="p",
        model="m",
        attempts=1,
    )
    row = json.loads(with_custom_id(line, "a"))
    assert (row["usage"], row["cost"]["amount"], row["output"], row["response"]) == (None, None, None, None)
    assert (row["reason"], row["message"]) == ("context_length_exceeded", 'too "long"')


def test_a_request_without_a_price_has_no_cost() -> None:
    line = settled_line(
        position=1,
        key=KEY,
        judgement=ANSWER,
        response=None,
        usage=USAGE,
        spend=Spend(unpriced=1),
        provider="p",
        model="m",
        attempts=1,
    )
    assert read_settled(line).r.cost.amount is None


@given(st.text(max_size=40), st.text(max_size=200))
def test_any_id_and_any_answer_survive_the_splice(custom_id: str, text: str) -> None:
    output = json.dumps(text + TRICKY, ensure_ascii=False).encode()
    response = b'{"choices":[{"message":{"content":%s}}],"usage":{"total_tokens":1}}' % output
    line = settled(Judgement(outcome=Outcome.SUCCEEDED, output=output), response=response)
    for given_line in (line, at_position(line, 4)):
        row = json.loads(with_custom_id(given_line, custom_id))
        assert (row["custom_id"], row["output"], row["attempts"]) == (custom_id, text + TRICKY, 2)
    assert json.loads(with_custom_id(repeated(line), custom_id))["output"] == text + TRICKY
    assert head(line) == (17, KEY)
    assert verdict(line) == (Outcome.SUCCEEDED, None)


@pytest.mark.parametrize("judgement", [ANSWER, FAILURE])
def test_a_repeat_has_the_same_answer_and_costs_nothing(judgement: Judgement) -> None:
    line = settled(judgement)
    once, twice = json.loads(with_custom_id(line, "a")), json.loads(with_custom_id(repeated(line), "a"))
    assert set(twice["usage"].values()) == {0}
    assert (twice["cost"], twice["reused"]) == ({"amount": "0", "currency": "USD"}, True)
    changed = {"usage", "cost", "reused"}
    assert {k: v for k, v in once.items() if k not in changed} == {
        k: v for k, v in twice.items() if k not in changed
    }


def test_a_result_line_can_be_repeated_too() -> None:
    line = with_custom_id(settled(), "a")
    assert repeated(line) == with_custom_id(repeated(settled()), "a")


def test_a_line_moves_to_another_position() -> None:
    moved = at_position(settled(), 1_000_000)
    assert head(moved) == (1_000_000, KEY)
    assert with_custom_id(moved, "a") == with_custom_id(settled(), "a")


@pytest.mark.parametrize("judgement", [ANSWER, FAILURE])
def test_the_verdict_is_read_from_either_line(judgement: Judgement) -> None:
    line = settled(judgement)
    assert verdict(line) == verdict(with_custom_id(line, "x")) == (judgement.outcome, judgement.reason)


def test_usage_comes_back_in_its_buckets() -> None:
    assert usage_of(read_settled(settled()).r) == USAGE
    assert usage_of(read_result(with_custom_id(settled(), "a"))) == USAGE

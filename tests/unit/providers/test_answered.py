"""Neutral answers as OpenAI's bodies, and the rows they make."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from shared.adapters.providers.translation.answered import Answered, Called, answer_row
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import Finish, RowKind
from shared.domain.usage import Usage

KEY = RequestKey("run-1")
USED = Usage(uncached_input=3, cached_input=4, cache_write=5, output=6, reasoning=2)
HELLO = Answered(id="msg_1", model="m", created=1780000000, text="hi", finish=Finish.STOP, usage=USED)
BOTH = pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES])


@BOTH
def test_a_text_comes_back_with_its_tokens_in_disjoint_buckets(endpoint: Endpoint) -> None:
    row = answer_row(endpoint, KEY, HELLO)

    assert (row.key, row.kind, row.status) == (KEY, RowKind.ANSWER, 200)
    assert (row.text, row.output, row.finish, row.refusal) == ("hi", b'"hi"', Finish.STOP, None)
    assert row.usage == USED


def test_the_body_is_what_openais_client_reads() -> None:
    calls = [Called(id="c1", name="weather", arguments='{"a":1}')]
    answered = replace(HELLO, calls=calls)

    chat = ChatCompletion.model_validate(body_of(Endpoint.CHAT, answered))
    response = Response.model_validate(
        {
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            **body_of(Endpoint.RESPONSES, answered),
        }
    )

    assert chat.choices[0].finish_reason == "tool_calls"
    assert chat.choices[0].message.content == "hi"
    assert chat.usage is not None
    assert (chat.usage.prompt_tokens, chat.usage.completion_tokens, chat.usage.total_tokens) == (12, 6, 18)
    assert response.output_text == "hi"
    assert response.output[1].type == "function_call"
    assert response.usage is not None
    assert response.usage.input_tokens == 12


@BOTH
@pytest.mark.parametrize("finish", list(Finish))
def test_the_way_it_ended_survives(endpoint: Endpoint, finish: Finish) -> None:
    assert answer_row(endpoint, KEY, replace(HELLO, finish=finish)).finish is finish


@BOTH
def test_a_refusal_survives_beside_what_was_said_before(endpoint: Endpoint) -> None:
    row = answer_row(endpoint, KEY, replace(HELLO, refusal="I will not."))

    assert row.refusal == "I will not."
    assert row.text == "hi"


@BOTH
def test_what_was_not_told_stays_unknown(endpoint: Endpoint) -> None:
    nothing = Answered(id=None, model=None, created=None, text=None, finish=Finish.STOP)

    row = answer_row(endpoint, KEY, nothing)

    assert (row.usage, row.text, row.output) == (None, None, None)
    assert row.body is not None
    assert b'"usage":null' in row.body


def body_of(endpoint: Endpoint, answered: Answered) -> dict[str, Any]:
    row = answer_row(endpoint, KEY, answered)
    assert row.body is not None
    assert b"\n" not in row.body
    body: dict[str, Any] = msgspec.json.decode(row.body)
    return body

"""What is asked of the model, and in which form its answer is delivered."""

import pytest

from tests.integration.postern import Caller, Json, chat
from tests.integration.provider import Provider

pytestmark = pytest.mark.stack

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "people": {"type": "integer", "minimum": 0}},
    "required": ["city", "people"],
    "additionalProperties": False,
}


def respond(text: str, **body: object) -> Json:
    return {"body": {"input": text, **body}}


def test_chat_is_answered_in_chats_shape(support: Caller) -> None:
    job = support.finished(support.submitted(chat("Wind blows."), endpoint="chat"))

    [row] = support.results(job)
    assert row["response"]["object"] == "chat.completion"
    assert row["response"]["choices"][0]["finish_reason"] == "stop"


def test_responses_are_answered_in_responses_shape(support: Caller) -> None:
    asked = [respond("Wind blows."), respond("Snow falls.", instructions="Be short.")]

    job = support.finished(support.submitted(*asked, endpoint="responses"))

    assert job["status"] == "completed"
    for row in support.results(job):
        assert row["response"]["object"] == "response"
        assert row["output"]
        assert row["usage"]["output_tokens"] > 0


def test_the_endpoint_may_be_told_by_the_lines_alone(support: Caller) -> None:
    line = {"custom_id": "x", "method": "POST", "url": "/v1/responses", **respond("Wind blows.")}

    job = support.finished(support.submitted(line))

    assert support.results(job)[0]["response"]["object"] == "response"


def test_dated_paths_are_spoken_where_the_deployment_wants_them(support: Caller, provider: Provider) -> None:
    job = support.finished(support.submitted(chat("An older resource."), alias="dated"))

    [made] = provider.journal(operation="create", batch_id=job["chunks"][0]["batch_id"])
    assert job["status"] == "completed"
    assert made["path"] == "/azure/openai/batches"


def test_parameters_reach_the_model(support: Caller) -> None:
    long = " ".join(f"Sentence number {n} is here." for n in range(200))

    short = support.submitted(chat(long), params={"max_output_tokens": 5, "seed": 7})
    free = support.submitted(chat(long))

    assert support.results(support.finished(short))[0]["outcome"] == "truncated"
    assert support.results(support.finished(free))[0]["outcome"] == "succeeded"


def test_a_schema_makes_the_output_an_object(support: Caller, provider: Provider, word: str) -> None:
    provider.answer(word, "success", text='{"city": "Bern", "people": 134000}')

    job = support.finished(support.submitted(chat(word), output_schema=SCHEMA))

    [row] = support.results(job)
    assert row["outcome"] == "succeeded"
    assert row["output"] == {"city": "Bern", "people": 134000}


def test_an_answer_that_breaks_the_schema_is_asked_for_once_more(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.answer(word, "success", times=1, text='{"city": "Bern"}')
    provider.answer(word, "success", text='{"city": "Bern", "people": 1}')

    job = support.finished(support.submitted(chat(word), output_schema=SCHEMA))

    [row] = support.results(job)
    assert (row["outcome"], row["attempts"]) == ("succeeded", 2)
    assert [chunk["attempt"] for chunk in job["chunks"]] == [1, 2]


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        ({"outcome": "success", "text": '{"city": "Bern", "people": -1}'}, "schema"),
        ({"outcome": "success", "text": '["Bern", 1]'}, "schema"),
        ({"outcome": "success", "text": "Bern, quite full"}, "invalid_json"),
        ({"outcome": "invalid_json"}, "invalid_json"),
    ],
    ids=["wrong value", "wrong type", "prose", "half of it"],
)
def test_an_answer_that_stays_invalid_is_an_outcome(
    support: Caller, provider: Provider, word: str, then: Json, reason: str
) -> None:
    provider.rule({"contains": word}, then)

    job = support.finished(support.submitted(chat(word, "bad"), output_schema=SCHEMA))

    [row] = support.results(job)
    assert (row["outcome"], row["reason"], row["attempts"]) == ("invalid", reason, 2)
    assert job["status"] == "failed"
    assert row["usage"]["output_tokens"] > 0


def test_answers_that_are_not_asked_to_be_json_may_be_anything(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.answer(word, "invalid_json", text='{"half": ')

    job = support.finished(support.submitted(chat(word)))

    assert support.results(job)[0]["output"] == '{"half": '

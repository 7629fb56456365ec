"""What OpenAI's models would refuse, found before anything is sent."""

from collections.abc import Mapping

import pytest

from shared.adapters.providers.openai.objections import fitted, objection
from shared.domain.catalog import Endpoint

CHAT, RESPONSES, EMBEDDINGS = Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.EMBEDDINGS


@pytest.mark.parametrize(
    ("model", "endpoint", "body", "field"),
    [
        ("o3", CHAT, {"temperature": 0}, "temperature"),
        ("o4-mini", RESPONSES, {"top_p": 0.5}, "top_p"),
        ("gpt-5", CHAT, {"logprobs": True}, "logprobs"),
        ("gpt-5-nano", RESPONSES, {"temperature": 0.2}, "temperature"),
        ("gpt-5-mini-2025-08-07", CHAT, {"logit_bias": {"50256": -100}}, "logit_bias"),
        ("GPT-5-mini", CHAT, {"presence_penalty": 0.5}, "presence_penalty"),
        ("gpt-5.2", RESPONSES, {"temperature": 0.2, "reasoning": {"effort": "low"}}, "temperature"),
        ("gpt-5.1", CHAT, {"top_p": 0.2, "reasoning_effort": "high"}, "top_p"),
        ("gpt-4.1", CHAT, {"max_output_tokens": 5}, "max_output_tokens"),
        ("gpt-4.1", RESPONSES, {"max_tokens": 5}, "max_tokens"),
        ("gpt-4.1", RESPONSES, {"max_completion_tokens": 5}, "max_completion_tokens"),
        ("text-embedding-3-small", EMBEDDINGS, {"input": ["a"] * 2049}, "input"),
    ],
)
def test_what_is_refused_is_named(
    model: str, endpoint: Endpoint, body: Mapping[str, object], field: str
) -> None:
    found = objection(model, endpoint, body)

    assert found is not None
    assert found.field == field


@pytest.mark.parametrize(
    ("model", "endpoint", "body"),
    [
        ("o3", CHAT, {"temperature": 1, "top_p": 1.0, "n": 1, "max_completion_tokens": 5}),
        ("gpt-5-mini", CHAT, {"temperature": None, "presence_penalty": 0, "reasoning_effort": "low"}),
        ("gpt-5-mini", RESPONSES, {"max_output_tokens": 5}),
        ("gpt-5-mini", CHAT, {"max_tokens": 5}),
        ("gpt-5-chat", CHAT, {"temperature": 0.2, "max_tokens": 5}),
        ("gpt-5-chat-latest", CHAT, {"temperature": 0.2}),
        ("gpt-5.2", RESPONSES, {"temperature": 0.2}),
        ("gpt-5.2", RESPONSES, {"temperature": 0.2, "reasoning": {"effort": "none"}}),
        ("gpt-5.2-chat-latest", CHAT, {"temperature": 0.2, "reasoning_effort": "medium"}),
        ("gpt-5.1", CHAT, {"presence_penalty": 1, "reasoning_effort": "low"}),
        ("gpt-4.1-mini", CHAT, {"temperature": 0, "max_tokens": 5, "logprobs": True}),
        ("gpt-4o", RESPONSES, {"temperature": 0}),
        ("o3000", CHAT, {"temperature": 0}),
        ("mini-o3", CHAT, {"temperature": 0}),
        ("text-embedding-3-small", EMBEDDINGS, {"input": ["a"] * 2048}),
        # One input, given as its tokens.
        ("text-embedding-3-small", EMBEDDINGS, {"input": list(range(5000))}),
        ("text-embedding-3-small", EMBEDDINGS, {"input": []}),
    ],
)
def test_what_is_taken_is_let_through(model: str, endpoint: Endpoint, body: Mapping[str, object]) -> None:
    assert objection(model, endpoint, body) is None


@pytest.mark.parametrize(
    ("model", "endpoint", "body", "sent"),
    [
        ("gpt-5-mini", CHAT, {"max_tokens": 5, "n": 1}, {"max_completion_tokens": 5, "n": 1}),
        ("o1", CHAT, {"max_tokens": 5, "max_completion_tokens": 7}, {"max_completion_tokens": 7}),
        ("gpt-4.1", CHAT, {"max_tokens": 5}, {"max_tokens": 5}),
        ("gpt-5-mini", RESPONSES, {"max_output_tokens": 5}, {"max_output_tokens": 5}),
    ],
)
def test_the_limit_of_a_chat_goes_under_the_name_that_the_model_takes(
    model: str, endpoint: Endpoint, body: Mapping[str, object], sent: Mapping[str, object]
) -> None:
    assert fitted(model, endpoint, body) == sent

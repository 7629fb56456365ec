"""Counting before sending: never too few."""

import pytest
import toktok
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.text.tokens import ToktokTokens

VOCABULARIES = ("cl100k_base", "o200k_base", "o200k_harmony", "qwen3.5")
TEXTS = [
    "The quick brown fox jumps over the lazy dog. " * 40,
    "0123456789" * 100,
    "नमस्ते दुनिया यह एक परीक्षण है " * 30,
    "สวัสดีชาวโลก นี่คือการทดสอบ " * 30,
    "你好世界这是一个测试" * 30,
    "😀🎉👨‍👩‍👧" * 30,
    " " * 1000,
    "\n" * 1000,
    "-" * 1000 + "=" * 1000,
    "zqxjkvw" * 200,
    "def f(x):\n        return [y for y in x if y]\n" * 30,
    "\x00\x01\x7f" * 50,
]


def count(model: str, text: str) -> int:
    [found] = ToktokTokens().count(model, [text])
    return found


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5-mini", "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("GPT-4o", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("ft:gpt-4o-mini:acme", "o200k_base"),
        ("gpt-oss-120b", "o200k_harmony"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-35-turbo", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
    ],
)
def test_openais_models_are_counted_with_their_own_vocabulary(model: str, encoding: str) -> None:
    text = "Internationalisation: 12345 naïve façade — ключ"
    assert count(model, text) == toktok.batch_count([text], encoding)[0]


def test_a_known_count() -> None:
    assert ToktokTokens().count("gpt-5", ["hello world", "", "a"]) == [2, 0, 1]


def test_nothing_to_count_is_no_count() -> None:
    assert ToktokTokens().count("gpt-5", []) == []
    assert ToktokTokens().count("claude-x", []) == []


def test_text_that_looks_like_a_special_token_is_text() -> None:
    assert count("gpt-5", "<|endoftext|>") > 1


@pytest.mark.parametrize("model", ["gpt-5", "gpt-4", "claude-x"])
def test_half_a_surrogate_pair_counts_and_spoils_no_other_text(model: str) -> None:
    counts = ToktokTokens().count(model, ["hello", "\ud800", "\udc00 hello"])

    assert counts[0] == count(model, "hello")
    assert all(counted >= 1 for counted in counts)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:8]))
def test_the_estimate_for_other_models_is_not_below_any_vocabulary_nor_above_the_bytes(text: str) -> None:
    estimate = count("claude-x", text)

    assert estimate >= max(toktok.batch_count([text], encoding)[0] for encoding in VOCABULARIES)
    assert estimate <= len(text.encode())


@given(text=st.text(max_size=60))
def test_the_estimate_holds_for_any_text(text: str) -> None:
    estimate = count("mistral-x", text)

    assert all(estimate >= toktok.batch_count([text], encoding)[0] for encoding in VOCABULARIES)


def test_the_estimate_of_prose_is_of_some_use() -> None:
    text = TEXTS[0]

    assert count("claude-x", text) <= 2.5 * count("gpt-5", text)


def test_a_run_costs_what_a_vocabulary_without_runs_would_take() -> None:
    assert count("mistral-x", "\n" * 1000) == 1000

"""The same job on every provider: a tenant cannot tell them apart by what comes back."""

import pytest

from tests.integration.catalogs import PROVIDERS
from tests.integration.postern import Caller, chat
from tests.integration.provider import Provider

EVERYWHERE = ["summarize", "dated", "own-storage", *PROVIDERS]


@pytest.mark.parametrize("alias", EVERYWHERE)
def test_the_same_job_has_the_same_outcomes_everywhere(
    support: Caller, provider: Provider, word: str, alias: str
) -> None:
    provider.answer(f"{word}-filtered", "content_filter")
    provider.answer(f"{word}-cut", "truncated")
    provider.answer(f"{word}-bad", "error", status=400, error_code="invalid_request")
    provider.answer(f"{word}-fine", "success", text="one\u2028two")
    texts = [f"{word}-{kind} is the word" for kind in ("fine", "filtered", "cut", "bad", "plain")]

    job = support.finished(support.submitted(*map(chat, texts), alias=alias))

    rows = support.results(job)
    assert job["status"] == "partial"
    assert [row["outcome"] for row in rows] == ["succeeded", "refused", "truncated", "failed", "succeeded"]
    assert rows[0]["output"] == "one\u2028two"
    assert rows[0]["response"]["choices"][0]["message"]["content"] == "one\u2028two"
    assert rows[4]["usage"]["input_tokens"] > 0
    assert support.report(job)["balanced"]

"""The same job on every provider: a tenant cannot tell them apart by what comes back."""

import pytest

from tests.integration.catalogs import PROVIDERS
from tests.integration.postern import Caller, chat, lines
from tests.integration.provider import Provider, eventually

EVERYWHERE = ["summarize", "dated", "own-storage", *PROVIDERS]

# As pydantic writes it for a model with an optional part: some providers take no references.
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "customer": {"$ref": "#/$defs/Person"},
        "agent": {"anyOf": [{"$ref": "#/$defs/Person"}, {"type": "null"}]},
    },
    "required": ["title", "customer", "agent"],
    "additionalProperties": False,
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize("alias", EVERYWHERE)
def test_a_schema_with_references_is_kept_everywhere(support: Caller, word: str, alias: str) -> None:
    submitted = support.submitted(
        chat(f"{word} Ana called. She has no light."), alias=alias, output_schema=SCHEMA
    )

    job = support.finished(submitted)

    [row] = support.results(job)
    assert (row["outcome"], row["reason"]) == ("succeeded", None)
    assert set(row["output"]) == {"title", "customer", "agent"}
    assert set(row["output"]["customer"]) == {"name"}


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


# Where batches carry no key of ours


def test_a_lost_answer_to_a_create_leaves_one_batch_without_keys_too(
    support: Caller, provider: Provider, word: str
) -> None:
    provider.call(word, "create", 1, drop="after")

    # A size that no other job has, for it is what the batch is found by.
    job = support.submitted(*(chat(f"{word} {n}", f"r{n}") for n in range(17)), alias="anthropic")
    job = support.finished(job, seconds=90)

    made = [
        entry["batch_id"]
        for entry in provider.created()
        if (entry["provider"], entry["requests"]) == ("anthropic", 17)
    ]
    assert (job["status"], job["counts"]["succeeded"]) == ("completed", 17)
    assert made == [chunk["batch_id"] for chunk in job["chunks"]]


def test_our_own_batches_are_no_side_door_and_can_be_cancelled(
    support: Caller, operators: Caller, provider: Provider, word: str
) -> None:
    provider.batch(word, "stuck", completed=1)
    job = support.submitted(*(chat(f"{word} {n}", f"r{n}") for n in range(3)), alias="anthropic")
    running = support.until(job, lambda seen: bool(seen["chunks"] and seen["chunks"][0]["batch_id"]))

    def looks() -> int:
        return sum(entry["provider"] == "anthropic" for entry in provider.journal(operation="list"))

    # The second sweep from now on has begun, so the first one is done.
    enough = looks() + 2
    eventually(lambda: looks() >= enough, seconds=60)
    findings = operators.get("/v1/findings").json()["data"]
    support.post(f"/v1/jobs/{job['id']}/cancel")
    cancelled = support.finished(job, seconds=90)

    batch_id = running["chunks"][0]["batch_id"]
    assert batch_id not in {found["subject"] for found in findings}
    assert (cancelled["status"], cancelled["counts"]["succeeded"]) == ("cancelled", 1)
    assert cancelled["counts"]["cancelled"] == 2


def test_what_claude_does_not_take_is_refused_with_line_and_field(support: Caller) -> None:
    refused = support.refused(alias="anthropic", requests=[chat("one"), chat("two", temperature=0)])

    assert lines(refused) == {2: "body.temperature"}

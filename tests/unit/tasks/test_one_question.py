"""Tasks that are one question: what comes of every kind of answer."""

import json
from typing import Any

import msgspec
import pytest

from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider_rows import Fate
from shared.domain.catalog import Alias
from shared.domain.ids import AliasName, DeploymentName
from shared.domain.outcomes import Outcome
from tests.support.virtual import in_virtual_time
from tests.unit.tasks.orders import a_run, an_order, output_of

INVOICE = {
    "type": "object",
    "properties": {"total": {"type": "number"}},
    "required": ["total"],
    "additionalProperties": False,
}
LABELS = {"enum": ["hardware", "software"]}


def sent(models: MemoryModels, number: int = 0) -> str:
    return json.dumps(models.of("mini").asked[number].body, ensure_ascii=False)


@in_virtual_time
async def test_a_document_is_summarized_and_paid_for() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: f"about {words[:11]}"

    result = await a_run(models)(an_order())

    assert result.outcome is Outcome.SUCCEEDED
    assert output_of(result) == "about The printer"
    assert result.usage
    assert result.spend
    assert result.spend.amount > 0
    assert (result.provider, result.model, result.deployment) == ("azure_openai", "gpt-5-mini", "mini")
    assert (result.attempts, result.calls, result.parts) == (1, 1, None)


@in_virtual_time
async def test_the_model_is_told_the_pipelines_prompt_for_whom_and_that_the_document_gives_no_orders() -> (
    None
):
    models = MemoryModels()

    await a_run(models)(an_order(prompt="Say it in one word."))

    question = models.of("mini").asked[0]
    assert (question.tenant, question.correlation_id) == ("support", "doc_1")
    messages = question.body["messages"]
    assert isinstance(messages, list)
    assert messages[0]["content"].startswith("Say it in one word.")
    assert "never instructions" in messages[0]["content"]
    assert messages[1]["content"] == "The printer on floor 3 is out of toner."
    assert question.body["max_completion_tokens"] == 400
    assert "notes/a.txt" not in sent(models)


@pytest.mark.parametrize(
    ("fate", "outcome", "reason"),
    [
        (Fate.REFUSAL, Outcome.REFUSED, "refusal"),
        (Fate.CONTENT_FILTER, Outcome.REFUSED, "content_filter"),
        (Fate.FILTERED, Outcome.REFUSED, "content_filter"),
        (Fate.TRUNCATED, Outcome.TRUNCATED, "max_tokens"),
        (Fate.REJECTED, Outcome.FAILED, "invalid_request"),
    ],
)
@in_virtual_time
async def test_what_the_model_says_no_to_is_a_result_and_is_asked_once(
    fate: Fate, outcome: Outcome, reason: str
) -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["printer"] = fate

    result = await a_run(models)(an_order())

    assert (result.outcome, result.reason, result.calls) == (outcome, reason, 1)
    assert len(models.of("mini").asked) == 1


@in_virtual_time
async def test_an_object_is_extracted_and_checked() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: '```json\n{"total": 12.50}\n```'

    result = await a_run(models)(an_order("extract", "Total: 12.50", schema=INVOICE))

    assert output_of(result) == {"total": 12.5}
    assert models.of("mini").asked[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "output", "strict": True, "schema": INVOICE},
    }


@in_virtual_time
async def test_an_invalid_answer_is_repaired_once_with_the_flaw_told_and_both_are_paid_for() -> None:
    models = MemoryModels()
    answers = iter(['{"total": "many"}', '{"total": 3}'])
    models.of("mini").manners.answer = lambda words: next(answers)

    result = await a_run(models)(an_order("extract", schema=INVOICE))

    assert output_of(result) == {"total": 3}
    assert (result.attempts, result.calls) == (2, 2)
    body = models.of("mini").asked[1].body
    assert isinstance(body["messages"], list)
    *_, answer, flaw = body["messages"]
    assert answer == {"role": "assistant", "content": '{"total": "many"}'}
    assert "$.total" in flaw["content"]
    assert result.usage
    assert result.usage.output > len('{"total": "many"}') // 4


@in_virtual_time
async def test_an_answer_that_stays_invalid_is_invalid() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: "I would say three."

    result = await a_run(models)(an_order("extract", schema=INVOICE))

    assert (result.outcome, result.reason, result.attempts) == (Outcome.INVALID, "invalid_json", 2)
    assert result.output is None
    assert result.message
    assert "three" not in result.message


@in_virtual_time
async def test_bare_labels_are_asked_for_in_an_object() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: '{"label": "hardware"}'

    result = await a_run(models)(an_order("classify", schema=LABELS))

    assert output_of(result) == {"label": "hardware"}
    assert '\\"hardware\\", \\"software\\"' in sent(models)


@in_virtual_time
async def test_a_label_that_does_not_exist_is_invalid() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: '{"kind": "furniture"}'
    schema = {"type": "object", "properties": {"kind": LABELS}, "required": ["kind"]}

    result = await a_run(models)(an_order("classify", schema=schema))

    assert (result.outcome, result.reason) == (Outcome.INVALID, "schema")


@in_virtual_time
async def test_a_prompt_of_ones_own() -> None:
    models = MemoryModels()

    result = await a_run(models)(an_order("prompt", prompt="Count the printers."))

    assert result.outcome is Outcome.SUCCEEDED
    assert "Count the printers." in sent(models)


@pytest.mark.parametrize(
    ("task", "settings", "what"),
    [
        ("prompt", {"prompt": "  "}, "a prompt"),
        ("extract", {}, "a schema"),
        ("classify", {}, "labels"),
        ("classify", {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}, "labels"),
        ("translate", {}, "languages"),
        ("paint", {}, "paint"),
    ],
)
@in_virtual_time
async def test_a_pipeline_that_lacks_something_says_what(
    task: str, settings: dict[str, Any], what: str
) -> None:
    models = MemoryModels()

    result = await a_run(models)(an_order(task, **settings))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "invalid_request", 0)
    assert what in str(result.message)
    assert not models.by_deployment


@in_virtual_time
async def test_a_schema_that_cannot_be_used_costs_nothing() -> None:
    models = MemoryModels()

    result = await a_run(models)(an_order("extract", schema={"type": "nonsense"}))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "invalid_schema", 0)


@in_virtual_time
async def test_an_alias_of_the_other_lane_is_named() -> None:
    alias = Alias(name=AliasName("nightly"), hours=(DeploymentName("mini"),))

    result = await a_run(MemoryModels())(an_order(alias=alias))

    assert (result.outcome, result.reason) == (Outcome.FAILED, "invalid_request")
    assert "'nightly'" in str(result.message)


@in_virtual_time
async def test_a_document_that_does_not_fit_is_too_large_with_figures() -> None:
    models = MemoryModels()

    result = await a_run(models, window=10_000)(an_order("extract", "x" * 12_345, schema=INVOICE))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "too_large", 0)
    assert "12,345" in str(result.message)
    assert "gpt-5-mini" in str(result.message)


@in_virtual_time
async def test_a_blank_document_costs_nothing() -> None:
    result = await a_run(MemoryModels())(an_order(text=" \n\t"))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "no_text", 0)


@in_virtual_time
async def test_half_a_surrogate_pair_does_not_reach_the_model() -> None:
    models = MemoryModels()

    await a_run(models)(an_order(text="cut \ud83d off"))

    assert msgspec.json.encode(models.of("mini").asked[0].body).decode().count("cut \ufffd off") == 1

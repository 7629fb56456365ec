"""Documents that do not fit into one question."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.text.splitter import SemanticSplitter
from shared.adapters.text.tokens import ToktokTokens
from shared.domain.catalog import Alias
from shared.domain.errors import Deferred, TryAgainLater
from shared.domain.outcomes import Outcome
from shared.ports.models import Question
from tests.support.virtual import in_virtual_time
from tests.unit.tasks.orders import ALIAS, a_catalog, a_run, an_order, output_of

TEXT = "word " * 4_000
WINDOW = 6_000
SECOND = timedelta(seconds=1)


def words_of(question: Question) -> str:
    messages = question.body["messages"]
    assert isinstance(messages, list)
    return str(messages[-1]["content"])


@in_virtual_time
async def test_a_long_document_is_read_in_parts_and_the_notes_are_summed_up() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: f"note on {len(words)}"

    result = await a_run(models, window=WINDOW)(an_order(text=TEXT))

    asked = models.of("mini").asked
    assert "".join(map(words_of, asked[:-1])) == TEXT
    assert len(asked) == result.calls > 4
    assert words_of(asked[-1]).split("\n\n") == [f"note on {len(words_of(one))}" for one in asked[:-1]]
    assert output_of(result) == f"note on {len(words_of(asked[-1]))}"
    assert result.parts is not None
    assert [part["output"] for part in result.parts] == words_of(asked[-1]).split("\n\n")
    assert result.parts[0]["start"] == 0
    assert result.parts[-1]["end"] == len(TEXT)
    json.dumps(result.parts)


@in_virtual_time
async def test_no_question_is_larger_than_the_window_or_half_a_minutes_share() -> None:
    models = MemoryModels()
    catalog = a_catalog(tokens_per_minute=16_000, share=0.5)

    result = await a_run(models, catalog=catalog)(an_order(text="word " * 2_000))

    assert result.outcome is Outcome.SUCCEEDED
    assert all(len(words_of(question)) <= 4_000 for question in models.of("mini").asked)


@in_virtual_time
async def test_notes_that_are_too_long_are_noted_again_and_the_depth_has_an_end() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: words[: len(words) * 9 // 10]

    result = await a_run(models, window=WINDOW)(an_order(text=TEXT))

    assert (result.outcome, result.reason) == (Outcome.FAILED, "too_large")
    assert "3 rounds" in str(result.message)
    assert result.calls < 20
    assert result.usage


@in_virtual_time
async def test_a_document_of_too_many_parts_is_too_large_before_anything_is_asked() -> None:
    models = MemoryModels()

    result = await a_run(models, window=2_000)(an_order(text="word " * 30_000))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "too_large", 0)
    assert "150,000 tokens" in str(result.message)


@in_virtual_time
async def test_a_refused_part_refuses_the_document_and_says_which() -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["forbidden"] = Fate.CONTENT_FILTER
    text = TEXT[:9_000] + "forbidden " + TEXT[:9_000]

    result = await a_run(models, window=WINDOW)(an_order(text=text))

    assert (result.outcome, result.reason) == (Outcome.REFUSED, "content_filter")
    assert "part 2 of" in str(result.message)
    assert result.parts is not None
    assert [part["outcome"] for part in result.parts] == ["succeeded", "refused"]


@in_virtual_time
async def test_the_schema_holds_for_the_whole_and_not_for_the_notes() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: '{"gist": "x"}' if "note" in words else "note"
    schema = {"type": "object", "properties": {"gist": {"type": "string"}}, "required": ["gist"]}

    result = await a_run(models, window=WINDOW)(an_order(text=TEXT, schema=schema))

    assert output_of(result) == {"gist": "x"}
    assert "response_format" not in models.of("mini").asked[0].body
    assert "response_format" in models.of("mini").asked[-1].body


@in_virtual_time
async def test_a_document_halfway_waits_longer_than_one_that_has_not_begun() -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["end"] = Fate.RATE_LIMITED

    with pytest.raises(Deferred) as deferred:
        await a_run(models, window=WINDOW)(an_order(text=TEXT + "end"))

    assert deferred.value.spent is not None
    tries = [question for question in models.of("mini").asked if "end" in words_of(question)]
    assert len(tries) == 3


@in_virtual_time
async def test_a_translation_is_one_question_a_language() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: f"<{words}>"

    result = await a_run(models)(an_order("translate", "Guten Tag.\n", languages=("en", "pt-BR")))

    assert output_of(result) == {"en": "<Guten Tag.>\n", "pt-BR": "<Guten Tag.>\n"}
    assert [json.dumps(asked.body).count("English (en)") for asked in models.of("mini").asked] == [1, 0]
    assert result.parts == [
        {"language": "en", "outcome": "succeeded", "reason": None, "message": None},
        {"language": "pt-BR", "outcome": "succeeded", "reason": None, "message": None},
    ]
    assert result.calls == 2


@in_virtual_time
async def test_a_long_translation_is_put_together_again_with_the_documents_own_blanks() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: words.upper()
    text = "one two three four five six. " * 60

    result = await a_run(models)(an_order("translate", text, languages=("en",)))

    assert output_of(result) == {"en": text.upper()}
    assert result.calls > 5


@in_virtual_time
async def test_a_language_that_is_refused_leaves_the_others() -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["German"] = Fate.REFUSAL

    result = await a_run(models)(an_order("translate", "Good day", languages=("de", "fr")))

    assert (result.outcome, result.reason) == (Outcome.REFUSED, "refusal")
    assert str(result.message).startswith("de")
    assert list(output_of(result)) == ["fr"]


@in_virtual_time
async def test_a_translation_of_too_many_parts_says_what_would_help() -> None:
    result = await a_run(MemoryModels())(an_order("translate", TEXT, languages=("de", "fr")))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "too_large", 0)
    assert "max_output_tokens" in str(result.message)


@in_virtual_time
async def test_pieces_are_embedded_with_their_places_and_several_at_once() -> None:
    models = MemoryModels()
    text = "a heater is broken. " * 100

    result = await a_run(models)(an_order("embed", text, split_tokens=20))

    pieces: list[dict[str, Any]] = output_of(result)
    assert "".join(piece["text"] for piece in pieces) == text
    assert all(text[piece["start"] : piece["end"]] == piece["text"] for piece in pieces)
    assert [piece["n"] for piece in pieces] == list(range(len(pieces)))
    assert [piece["vector"] for piece in pieces] == [[float(len(piece["text"])), 0.5] for piece in pieces]
    assert result.calls == 2
    assert result.parts is None
    assert result.usage
    assert result.usage.output == 0


@in_virtual_time
async def test_one_piece_has_one_vector() -> None:
    result = await a_run(MemoryModels())(an_order("embed", "A heater."))

    assert output_of(result) == [
        {"n": 0, "start": 0, "end": 9, "tokens": 9, "text": "A heater.", "vector": [9.0, 0.5]}
    ]


@in_virtual_time
async def test_blank_pieces_are_not_embedded() -> None:
    result = await a_run(MemoryModels())(an_order("embed", "heater " + " " * 100 + "oven", split_tokens=20))

    assert all(piece["text"].strip() for piece in output_of(result))


@in_virtual_time
async def test_pieces_larger_than_the_model_takes_are_refused_by_name() -> None:
    result = await a_run(MemoryModels(), window=8_192)(an_order("embed", split_tokens=9_000))

    assert (result.outcome, result.reason) == (Outcome.FAILED, "invalid_request")
    assert "9,000" in str(result.message)


@in_virtual_time
async def test_a_document_of_too_many_pieces_is_too_large() -> None:
    result = await a_run(MemoryModels())(an_order("embed", "x" * 40_000, split_tokens=16))

    assert (result.outcome, result.reason, result.calls) == (Outcome.FAILED, "too_large", 0)


@in_virtual_time
async def test_a_fault_halfway_tells_what_the_first_half_cost() -> None:
    models = MemoryModels()
    models.of("mini").manners.latency = SECOND
    models.of("mini").manners.sleep = asyncio.sleep
    work = asyncio.create_task(a_run(models)(an_order("embed", "a heater. " * 200, split_tokens=20)))
    await asyncio.sleep(1.5)

    models.of("mini").manners.faults.extend([TryAgainLater("503")] * 2)
    with pytest.raises(Deferred) as deferred:
        await work

    assert deferred.value.spent is not None
    assert deferred.value.spent[0].uncached_input > 0


async def test_a_megabyte_on_one_line_is_summarized_or_refused_with_figures() -> None:
    models = MemoryModels()
    tokens = ToktokTokens()
    run_task = a_run(models, tokens=tokens, splitter=SemanticSplitter(tokens), window=128_000)
    text = "0123456789abcdef" * 65_536

    summary = await run_task(an_order(text=text))
    extracted = await run_task(an_order("extract", text, schema={"type": "object"}))

    assert summary.outcome is Outcome.SUCCEEDED
    assert summary.parts is not None
    assert len(summary.parts) > 1
    assert (extracted.outcome, extracted.reason) == (Outcome.FAILED, "too_large")
    (counted,) = tokens.count("gpt-5-mini", [text])
    assert f"{counted:,}" in str(extracted.message)


def unlimited() -> Alias:
    return replace(ALIAS, max_output_tokens=None)


@in_virtual_time
async def test_without_a_limit_of_output_a_translation_goes_in_one_piece() -> None:
    result = await a_run(MemoryModels())(an_order("translate", TEXT, languages=("de",), alias=unlimited()))

    assert result.calls == 1

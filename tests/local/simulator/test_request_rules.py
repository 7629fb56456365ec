"""Rules for requests: what single lines of a batch, and single calls, can be made to suffer."""

import json

import pytest
from openai import AsyncAzureOpenAI, AsyncOpenAI

from tests.local.simulator import batching
from tests.local.simulator.batching import Row, a_line, counts, some_lines
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

POISON = "This ticket is poison. It has a second sentence."


def three() -> list[Row]:
    return [a_line("first"), a_line("bad", POISON), a_line("last")]


async def test_a_rule_gives_the_answer(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"contains": "poison"}, then={"text": "as told"})

    found = await batching.output(azure, await batching.run(azure, three()))

    assert {batching.message(row) for row in found if row["custom_id"] == "bad"} == {"as told"}
    assert sum(batching.message(row) == "as told" for row in found) == 1


async def test_an_object_is_given_as_json(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"custom_id": "bad"}, then={"outcome": "success", "text": {"team": 1}})

    found = await batching.output(azure, await batching.run(azure, three()))

    assert [json.loads(batching.message(row)) for row in found if row["custom_id"] == "bad"] == [{"team": 1}]


async def test_contains_looks_at_the_text_and_not_at_its_escapes(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"contains": 'says "Grüß\n'}, then={"text": "found"})

    [row] = await batching.output(azure, await batching.run(azure, [a_line("r", 'He says "Grüß\nGott".')]))

    assert batching.message(row) == "found"


async def test_the_first_match_wins_and_a_spent_rule_gives_way(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"contains": "poison"}, then={"text": "first"}, times=2)
    simulator.rule(match={"contains": "poison"}, then={"text": "second"})
    simulator.rule(match={}, then={"text": "third"})

    batch = await batching.run(azure, [a_line(f"r-{n}", POISON) for n in range(5)] + [a_line("other")])

    said = sorted(batching.message(row) for row in await batching.output(azure, batch))
    assert said == ["first"] * 2 + ["second"] * 3 + ["third"]


async def test_azure_filters_a_prompt_with_an_error_row(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"contains": "poison"}, then={"outcome": "content_filter"})

    batch = await batching.run(azure, three())

    [row] = await batching.errors(azure, batch)
    error = row["response"]["body"]["error"]
    assert counts(batch) == (3, 2, 1)
    assert (row["response"]["status_code"], error["code"], row["error"]) == (400, "content_filter", None)
    assert error["innererror"]["content_filter_result"]["hate"]["filtered"] is True


@pytest.mark.parametrize("explicit", [True, False], ids=["asked for", "as OpenAI does"])
async def test_a_filtered_completion_breaks_off(
    simulator: Simulator, azure: AsyncAzureOpenAI, openai: AsyncOpenAI, explicit: bool
) -> None:
    then: dict[str, object] = {"outcome": "content_filter"}
    simulator.rule(
        match={"contains": "poison"}, then={**then, "filtered": "completion"} if explicit else then
    )
    client = azure if explicit else openai

    found = await batching.output(client, await batching.run(client, three()))

    [row] = [row for row in found if row["custom_id"] == "bad"]
    choice = row["response"]["body"]["choices"][0]
    assert (row["response"]["status_code"], choice["finish_reason"]) == (200, "content_filter")
    assert POISON.startswith(choice["message"]["content"])


async def test_a_refusal_has_no_content(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={}, then={"outcome": "refusal"})

    [row] = await batching.output(azure, await batching.run(azure, [a_line("r")]))

    said = row["response"]["body"]["choices"][0]["message"]
    assert said["content"] is None
    assert "can't help" in said["refusal"]


async def test_an_error_row_has_the_status_code_and_body_it_is_given(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"custom_id": "a"}, then={"outcome": "error"})
    simulator.rule(
        match={"custom_id": "b"},
        then={"outcome": "error", "status": 429, "error_code": "slow", "message": "m"},
    )
    simulator.rule(match={"custom_id": "c"}, then={"outcome": "error", "status": 500, "body": {"odd": 1}})

    batch = await batching.run(azure, [a_line("a"), a_line("b"), a_line("c")])

    found = {row["custom_id"]: row["response"] for row in await batching.errors(azure, batch)}
    assert counts(batch) == (3, 0, 3)
    assert {name: response["status_code"] for name, response in found.items()} == {
        "a": 400,
        "b": 429,
        "c": 500,
    }
    assert found["a"]["body"]["error"]["type"] == "invalid_request_error"
    assert found["b"]["body"]["error"]["code"] == "slow"
    assert found["c"]["body"] == {"odd": 1}


async def test_a_missing_row_is_in_no_file_although_it_is_counted(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"contains": "poison"}, then={"outcome": "missing"})

    batch = await batching.run(azure, three())

    assert counts(batch) == (3, 3, 0)
    assert {row["custom_id"] for row in await batching.output(azure, batch)} == {"first", "last"}


async def test_a_duplicate_row_comes_twice(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"contains": "poison"}, then={"outcome": "duplicate"})

    batch = await batching.run(azure, three())

    found = sorted(row["custom_id"] for row in await batching.output(azure, batch))
    assert (counts(batch), found) == ((3, 3, 0), ["bad", "bad", "first", "last"])


def readable(content: bytes) -> list[Row]:
    found = []
    for line in content.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


@pytest.mark.parametrize("shape", ["cut", "last_line", "not_utf8", "not_object"])
async def test_a_malformed_row_cannot_be_read_and_harms_no_other(
    simulator: Simulator, azure: AsyncAzureOpenAI, shape: str
) -> None:
    simulator.rule(match={"contains": "poison"}, then={"outcome": "malformed", "shape": shape})

    batch = await batching.run(azure, three())

    content = await batching.content(azure, batch.output_file_id)
    assert {row["custom_id"] for row in readable(content)} == {"first", "last"}
    assert len([line for line in content.split(b"\n") if line]) == 3
    assert content.endswith(b"\n") is (shape != "last_line")


async def test_a_malformed_row_may_be_good_json_without_sense(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    for shape in ("empty_body", "status_0", "no_custom_id"):
        simulator.rule(match={"custom_id": shape}, then={"outcome": "malformed", "shape": shape})

    batch = await batching.run(azure, [a_line(name) for name in ("empty_body", "status_0", "no_custom_id")])

    found = {row["custom_id"]: row["response"] for row in await batching.output(azure, batch)}
    assert found["empty_body"]["body"] == {}
    assert found["status_0"]["status_code"] == 0
    assert found[None]["status_code"] == 200


async def test_a_truncated_answer_ends_at_the_token_limit(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"custom_id": "half"}, then={"outcome": "truncated", "text": '{"a": "bcdefgh"}'})
    simulator.rule(match={"custom_id": "thought"}, then={"outcome": "truncated", "reasoning": True})

    batch = await batching.run(azure, [a_line("half"), a_line("thought", max_completion_tokens=1000)])

    found = {row["custom_id"]: row["response"]["body"] for row in await batching.output(azure, batch)}
    half, thought = found["half"]["choices"][0], found["thought"]["choices"][0]
    assert (half["finish_reason"], half["message"]["content"]) == ("length", '{"a": "b')
    assert (thought["finish_reason"], thought["message"]["content"]) == ("length", "")
    assert found["thought"]["usage"]["completion_tokens"] == 1000
    assert found["thought"]["usage"]["completion_tokens_details"]["reasoning_tokens"] == 1000


async def test_invalid_json_comes_with_an_ordinary_finish(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={}, then={"outcome": "invalid_json"})
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}

    [row] = await batching.output(azure, await batching.run(azure, [a_line("r", response_format=form)]))

    assert row["response"]["body"]["choices"][0]["finish_reason"] == "stop"
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(batching.message(row))


async def test_an_expired_request_expires_its_batch(simulator: Simulator, azure: AsyncAzureOpenAI) -> None:
    simulator.rule(match={"contains": "poison"}, then={"outcome": "expired"}, times=1)

    batch = await batching.run(azure, three())

    [row] = await batching.errors(azure, batch)
    assert (batch.status, counts(batch)) == ("expired", (3, 2, 0))
    assert (row["custom_id"], row["response"], row["error"]["code"]) == ("bad", None, "batch_expired")


async def test_rules_may_be_for_one_provider_or_one_model(
    simulator: Simulator, azure: AsyncAzureOpenAI, openai: AsyncOpenAI
) -> None:
    simulator.rule(match={"provider": "azure", "model": "gpt-5-mini"}, then={"text": "only here"})

    for client, said in ((azure, "only here"), (openai, "One. Two.")):
        [row] = await batching.output(client, await batching.run(client, [a_line("r", "One. Two.")]))
        assert batching.message(row) == said


async def test_rules_for_lines_of_a_batch_leave_calls_alone(
    simulator: Simulator, azure: AsyncAzureOpenAI
) -> None:
    simulator.rule(match={"operation": "chat"}, then={"text": "call"})
    simulator.rule(match={"operation": "create"}, then={"text": "line"})

    [row] = await batching.output(azure, await batching.run(azure, some_lines(1)))
    call = await azure.chat.completions.create(
        model="gpt-5-mini", messages=[{"role": "user", "content": "Hello."}]
    )

    assert (batching.message(row), call.choices[0].message.content) == ("line", "call")

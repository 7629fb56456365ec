"""Batches: jobs under another name, told in OpenAI's words."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from openai import BadRequestError, NotFoundError, omit
from openai.types import Batch

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.services.door.create_batch import REMEMBERED, UNDER_WAY
from tests.support.openai_world import OpenAIWorld, lines_of
from tests.support.world import SUPPORT, a_body

type Json = dict[str, Any]

WAITS = {"x-stainless-retry-count": "1"}


async def created(
    world: OpenAIWorld,
    content: bytes,
    *,
    tenant: str = "support",
    endpoint: Any = "/v1/chat/completions",
    **more: Any,
) -> Batch:
    client = world.client(tenant)
    file = await client.files.create(file=("a.jsonl", content), purpose="batch")
    return await client.batches.create(
        input_file_id=file.id, endpoint=endpoint, completion_window="24h", **more
    )


async def finished(world: OpenAIWorld, batch: Batch, *, tenant: str = "support") -> Batch:
    await world.run()
    return await world.client(tenant).batches.retrieve(batch.id)


async def rows(world: OpenAIWorld, file: str | None, *, tenant: str = "support") -> list[Json]:
    assert file is not None
    content = (await world.client(tenant).files.content(file)).content
    assert content.endswith(b"\n")
    return [msgspec.json.decode(line) for line in content.splitlines()]


async def test_a_batch_goes_from_validating_to_completed(world: OpenAIWorld) -> None:
    batch = await created(world, lines_of(["One.", "Two."]), metadata={"project": "p"})

    done = await finished(world, batch)

    assert (batch.status, batch.metadata, batch.output_file_id) == ("validating", {"project": "p"}, None)
    assert batch.expires_at == batch.created_at + 24 * 3600
    assert (batch.request_counts and batch.request_counts.to_dict()) == {
        "total": 0,
        "completed": 0,
        "failed": 0,
    }
    assert (done.status, done.errors, done.error_file_id) == ("completed", None, None)
    assert (done.request_counts and done.request_counts.to_dict()) == {
        "total": 2,
        "completed": 2,
        "failed": 0,
    }
    for moment in (done.in_progress_at, done.finalizing_at, done.completed_at):
        assert isinstance(moment, int)
    assert (done.failed_at, done.expired_at, done.cancelling_at, done.cancelled_at) == (None,) * 4
    assert (await world.client().files.retrieve(done.input_file_id)).purpose == "batch"


async def test_its_output_is_a_file_of_lines_in_openais_shape(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, lines_of(["One.", "Two."])))

    found = await rows(world, done.output_file_id)
    file = await world.client().files.retrieve(str(done.output_file_id))

    assert [set(row) for row in found] == [{"id", "custom_id", "response", "error"}] * 2
    assert [row["custom_id"] for row in found] == ["r-0", "r-1"]
    assert {row["response"]["status_code"] for row in found} == {200}
    assert len({row["id"] for row in found}) == 2
    assert all(row["response"]["body"]["choices"][0]["message"]["content"] for row in found)
    assert (file.purpose, file.bytes) == (
        "batch_output",
        len((await world.client().files.content(file.id)).content),
    )
    assert file.expires_at == file.created_at + 30 * 24 * 3600


async def test_usage_is_the_sum_of_what_the_rows_say(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, lines_of(["One.", "Twenty-two."])))

    told = [row["response"]["body"]["usage"] for row in await rows(world, done.output_file_id)]

    assert done.usage is not None
    assert done.usage.input_tokens == sum(usage["prompt_tokens"] for usage in told)
    assert done.usage.total_tokens == sum(usage["total_tokens"] for usage in told)


async def test_results_are_kept_as_long_as_was_asked(world: OpenAIWorld) -> None:
    asked = {"anchor": "created_at", "seconds": 3600}
    done = await finished(world, await created(world, lines_of(["One."]), output_expires_after=asked))
    file = await world.client().files.retrieve(str(done.output_file_id))

    world.clock.advance(timedelta(seconds=3601))
    await world.sweep()

    assert file.expires_at == file.created_at + 3600
    with pytest.raises(NotFoundError):
        await world.client().files.content(file.id)


@pytest.mark.parametrize(
    ("fate", "status", "code", "kind"),
    [
        (Fate.REJECTED, 400, None, "invalid_request_error"),
        (Fate.CONTENT_FILTER, 400, "content_filter", "invalid_request_error"),
        (Fate.ERROR, 500, "provider_error", "server_error"),
        (Fate.RATE_LIMITED, 429, "rate_limited", "rate_limit_error"),
        (Fate.MISSING, 500, "missing", "server_error"),
        (Fate.MALFORMED, 500, "unreadable", "server_error"),
    ],
)
async def test_a_line_without_an_answer_is_in_the_error_file(
    world: OpenAIWorld, fate: Fate, status: int, code: str | None, kind: str
) -> None:
    world.provider.habits.fates["Bad"] = fate

    done = await finished(world, await created(world, lines_of(["One.", "Bad one."])))

    assert (done.status, [r["custom_id"] for r in await rows(world, done.output_file_id)]) == (
        "completed",
        ["r-0"],
    )
    assert (done.request_counts and done.request_counts.to_dict()) == {
        "total": 2,
        "completed": 1,
        "failed": 1,
    }
    (row,) = await rows(world, done.error_file_id)
    error = row["response"]["body"]["error"]
    assert (row["custom_id"], row["error"], row["response"]["status_code"]) == ("r-1", None, status)
    assert (error["code"], error["type"], error["param"]) == (code, kind, None)
    assert error["message"]


@pytest.mark.parametrize(
    ("fate", "finish"),
    [(Fate.FILTERED, "content_filter"), (Fate.TRUNCATED, "length"), (Fate.REFUSAL, "stop")],
)
async def test_a_line_that_was_answered_is_in_the_output_file_whatever_the_answer(
    world: OpenAIWorld, fate: Fate, finish: str
) -> None:
    world.provider.habits.fates["Bad"] = fate

    done = await finished(world, await created(world, lines_of(["Bad one."])))

    (row,) = await rows(world, done.output_file_id)
    assert (done.status, done.error_file_id) == ("completed", None)
    assert row["response"]["body"]["choices"][0]["finish_reason"] == finish


async def test_a_batch_of_which_nothing_succeeds_is_completed_and_has_no_output(world: OpenAIWorld) -> None:
    world.provider.habits.fates["Bad"] = Fate.REJECTED

    done = await finished(world, await created(world, lines_of(["Bad one.", "Bad two."])))

    assert (done.status, done.output_file_id) == ("completed", None)
    assert len(await rows(world, done.error_file_id)) == 2
    assert (await world.app.read_job.one(SUPPORT.id, done.id)).job.status == "failed"


async def test_lines_that_never_ran_are_told_apart(world: OpenAIWorld) -> None:
    world.provider.courses += [Course(end=BatchEnd.EXPIRED, done=1)] * 3

    done = await finished(world, await created(world, lines_of([f"Text {n}." for n in range(5)])))

    assert (done.status, done.expired_at is not None, done.completed_at) == ("expired", True, None)
    left = await rows(world, done.error_file_id)
    assert {row["error"]["code"] for row in left} == {"batch_expired"}
    assert {row["response"] for row in left} == {None}
    assert done.request_counts is not None
    assert (done.request_counts.completed, done.request_counts.failed) == (5 - len(left), 0)


async def test_a_cancelled_batch_says_so_line_by_line(world: OpenAIWorld) -> None:
    world.provider.habits.runs_for = timedelta(hours=2)
    batch = await created(world, lines_of(["One.", "Two."]))

    cancelling = await world.client().batches.cancel(batch.id)
    done = await finished(world, batch)

    assert (cancelling.status, cancelling.cancelling_at is not None) == ("cancelling", True)
    assert (done.status, done.cancelled_at is not None) == ("cancelled", True)
    assert {row["error"]["code"] for row in await rows(world, done.error_file_id)} == {"batch_cancelled"}


async def test_what_is_over_cannot_be_cancelled(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, lines_of(["One."])))

    with pytest.raises(BadRequestError) as refused:
        await world.client().batches.cancel(done.id)

    assert "Cannot cancel a batch with status 'completed'." in str(refused.value)


def without(name: str) -> bytes:
    line = msgspec.json.decode(lines_of(["One."]))
    del line[name]
    return msgspec.json.encode(line)


ONE = lines_of(["One."])
OTHER = ONE.replace(b"r-0", b"other")


@pytest.mark.parametrize(
    ("content", "line", "code", "param"),
    [
        (ONE + b"{broken", 2, "invalid_json_line", None),
        (ONE + b"\xff\xfe", 2, "invalid_json_line", None),
        (ONE + b"[1]", 2, "invalid_json_line", None),
        (b"\n\n" + ONE + b"\n" + ONE, 5, "duplicate_custom_id", "custom_id"),
        (ONE + without("custom_id"), 2, "missing_required_parameter", "custom_id"),
        (ONE + without("url"), 2, "missing_required_parameter", "url"),
        (ONE + OTHER.replace(b"chat/completions", b"responses"), 2, "invalid_url", "url"),
        (ONE + OTHER.replace(b"chat/completions", b"images"), 2, "invalid_url", "url"),
        (ONE + OTHER.replace(b"summarize", b"gpt-4o"), 2, "mismatched_model", "body.model"),
        (ONE + OTHER.replace(b'"model":"summarize",', b""), 2, "invalid_request", "body.model"),
        (ONE + lines_of(["x"], stream=True).replace(b"r-0", b"s"), 2, "streaming_unsupported", "body.stream"),
        (ONE.replace(b"summarize", b"gpt-4o"), 1, "model_not_found", "body.model"),
        (ONE.replace(b'"model":"summarize",', b""), 1, "invalid_request", "body.model"),
        (b"{broken\n" + ONE, 1, "invalid_json_line", None),
        (b"[]", 1, "invalid_json_line", None),
        (b"\n\n", None, "invalid_request", None),
    ],
)
async def test_a_file_that_cannot_be_fails_with_the_line(
    world: OpenAIWorld, content: bytes, line: int | None, code: str, param: str | None
) -> None:
    batch = await created(world, content)

    done = await finished(world, batch)

    assert (batch.status, done.status, done.failed_at is not None) == ("validating", "failed", True)
    assert (done.output_file_id, done.error_file_id, done.in_progress_at) == (None, None, None)
    assert done.errors is not None
    assert done.errors.data is not None
    (error,) = done.errors.data
    assert (done.errors.object, error.line, error.code, error.param) == ("list", line, code, param)
    assert error.message
    assert world.provider.created == []


async def test_all_bad_lines_are_told_at_once(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, ONE + b"{\n" + ONE + b"[]\n" + OTHER))

    assert done.errors is not None
    assert [error.line for error in done.errors.data or []] == [2, 3, 4]


async def test_a_long_first_line_is_read_to_its_end(world: OpenAIWorld) -> None:
    content = lines_of(["x" * 200_000, "y"])

    done = await finished(world, await created(world, content))

    assert (done.status, done.model) == ("completed", "summarize")


async def test_equal_requests_are_all_sent_and_nothing_is_reused(world: OpenAIWorld) -> None:
    same = lines_of(["The same."] * 3)
    for _ in range(2):
        done = await finished(world, await created(world, same, metadata={"run_id": "night"}))
        assert (done.request_counts and done.request_counts.completed) == 3

    assert [await world.sent(0), await world.sent(1)] == [3, 3]


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"input_file_id": "file-nobody"}, "input_file_id"),
        ({"input_file_id": ""}, "input_file_id"),
        ({"input_file_id": 7}, "input_file_id"),
        ({"endpoint": "/v1/images"}, "endpoint"),
        ({"endpoint": None}, "endpoint"),
        ({"completion_window": "48h"}, "completion_window"),
        ({"metadata": {f"k{n}": "v" for n in range(17)}}, "metadata"),
        ({"metadata": {"k" * 65: "v"}}, "metadata"),
        ({"metadata": {"": "v"}}, "metadata"),
        ({"metadata": {"k": "v" * 513}}, "metadata"),
        ({"metadata": {"k": 7}}, "metadata"),
        ({"metadata": ["k"]}, "metadata"),
        ({"output_expires_after": {"anchor": "created_at", "seconds": 60}}, "output_expires_after.seconds"),
        ({"output_expires_after": {"anchor": "later", "seconds": 3600}}, "output_expires_after"),
        ({"output_expires_after": True}, "output_expires_after"),
        ({"priority": "high"}, "priority"),
    ],
)
async def test_a_wish_that_cannot_be_is_refused(world: OpenAIWorld, changed: Json, param: str) -> None:
    file = await world.client().files.create(file=("a.jsonl", ONE), purpose="batch")
    wish = {"input_file_id": file.id, "endpoint": "/v1/chat/completions", "completion_window": "24h"}

    answer = await world.http().post("/openai/v1/batches", json={**wish, **changed})

    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["param"], error["type"]) == (param, "invalid_request_error")
    assert (await world.client().batches.list()).data == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'"' + b"x" * 100_000 + b'"'])
async def test_a_body_that_is_none_is_refused(world: OpenAIWorld, body: bytes) -> None:
    answer = await world.http().post("/openai/v1/batches", content=body)

    assert answer.status_code in (400, 413)
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


async def test_metadata_goes_up_to_openais_limits(world: OpenAIWorld) -> None:
    metadata = {f"{n:064}": "v" * 512 for n in range(16)}

    batch = await created(world, ONE, metadata=metadata)

    assert (await finished(world, batch)).metadata == metadata


async def test_the_tags_a_team_must_give_are_asked_for(world: OpenAIWorld) -> None:
    with pytest.raises(BadRequestError) as refused:
        await created(world, ONE, tenant="strict", metadata={"owner": "ana"})

    assert refused.value.param == "metadata.project"
    assert (await created(world, ONE, tenant="strict", metadata={"project": "p"})).status == "validating"


async def test_an_output_file_is_no_input(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, ONE))

    with pytest.raises(BadRequestError) as refused:
        await world.client().batches.create(
            input_file_id=str(done.output_file_id), endpoint="/v1/chat/completions", completion_window="24h"
        )

    assert refused.value.param == "input_file_id"


async def test_a_client_that_lost_the_answer_gets_the_batch_that_was_made(world: OpenAIWorld) -> None:
    client = world.client()
    first = await created(world, ONE, metadata={"project": "p"})

    async def again(headers: dict[str, str] | None = None, **changed: Any) -> str:
        wish: Json = {"metadata": {"project": "p"}, **changed}
        batch = await client.batches.create(
            input_file_id=first.input_file_id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            extra_headers=headers or WAITS,
            **wish,
        )
        return batch.id

    repeated = [await again(), await again({"x-stainless-retry-count": "2"})]
    other = await again(metadata={"project": "q"})
    deliberate = await again({"x-stainless-retry-count": "0"})
    newest = await again()
    world.clock.advance(REMEMBERED)
    much_later = await again()

    assert repeated == [first.id] * 2
    assert newest == deliberate
    assert len({first.id, other, deliberate, much_later}) == 4


async def test_the_call_that_was_asked_again_may_come_in_last(world: OpenAIWorld) -> None:
    client = world.client()
    file = await client.files.create(file=("in.jsonl", ONE), purpose="batch")

    async def asked(count: int) -> str:
        batch = await client.batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            extra_headers={"x-stainless-retry-count": str(count)},
        )
        return batch.id

    ids = [await asked(1), await asked(0), await asked(2)]
    world.clock.advance(UNDER_WAY)
    deliberate = await asked(0)

    assert ids == [ids[0]] * 3
    assert deliberate != ids[0]


async def test_it_gets_it_also_when_the_file_is_gone_meanwhile(world: OpenAIWorld) -> None:
    client, first = world.client(), await created(world, ONE)
    await client.files.delete(first.input_file_id)

    again = await client.batches.create(
        input_file_id=first.input_file_id,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata=omit,
        extra_headers=WAITS,
    )

    assert again.id == first.id


async def test_a_batch_has_a_copy_of_its_file(world: OpenAIWorld) -> None:
    batch = await created(world, ONE)
    await world.client().files.delete(batch.input_file_id)

    assert (await finished(world, batch)).status == "completed"


async def test_lists_turn_pages_over_jobs_and_batches(world: OpenAIWorld) -> None:
    ids = []
    for n in range(4):
        ids.append((await created(world, ONE)).id if n % 2 else (await world.submit(a_body(["x"]))).id)
        world.clock.advance(timedelta(seconds=1))
    client = world.client()

    first = await client.batches.list(limit=3)

    assert ([b.id for b in first.data], first.has_more) == (ids[:0:-1], True)
    assert [b.id async for b in client.batches.list(limit=1)] == ids[::-1]
    assert [b.id async for b in world.client("retail").batches.list()] == []


async def test_a_native_job_is_a_batch_too(world: OpenAIWorld) -> None:
    job = await world.submit(a_body(["one", "two"], tags={"project": "p"}))
    await world.run()

    batch = await world.client().batches.retrieve(job.id)

    assert (batch.id, batch.status, batch.metadata) == (job.id, "completed", {"project": "p"})
    assert (batch.request_counts and batch.request_counts.to_dict()) == {
        "total": 2,
        "completed": 2,
        "failed": 0,
    }
    assert (batch.input_file_id, batch.error_file_id) == ("", None)
    found = await rows(world, batch.output_file_id)
    assert [row["custom_id"] for row in found] == ["r-0", "r-1"]
    assert (await world.client().batches.retrieve(job.id)).to_dict() == batch.to_dict()


async def test_an_erased_job_gets_no_files_again(world: OpenAIWorld) -> None:
    job = await world.submit(a_body(["one"]))
    await world.run()
    await world.app.erase_job(job.tenant, job.id)

    batch = await world.client().batches.retrieve(job.id)

    assert (batch.status, batch.output_file_id) == ("completed", None)
    assert (await world.client().files.list()).data == []


async def test_erasing_the_job_erases_its_files(world: OpenAIWorld) -> None:
    done = await finished(world, await created(world, ONE))
    job = (await world.app.read_job.one_of([*world.catalog.catalog.tenants], done.id)).job

    await world.app.erase_job(job.tenant, done.id)

    with pytest.raises(NotFoundError):
        await world.client().files.content(str(done.output_file_id))
    assert (await world.client().batches.retrieve(done.id)).status == "completed"


async def test_another_tenants_batch_is_not_there(world: OpenAIWorld) -> None:
    batch, theirs = await created(world, ONE), world.client("retail")

    for call in (theirs.batches.retrieve, theirs.batches.cancel):
        with pytest.raises(NotFoundError) as refused:
            await call(batch.id)
        assert refused.value.code == "not_found"
    assert (await world.client("operators").batches.retrieve(batch.id)).id == batch.id


async def test_aliases_are_models(world: OpenAIWorld) -> None:
    client = world.client()

    assert [(m.id, m.object) async for m in client.models.list()] == [("summarize", "model")]
    assert (await client.models.retrieve("summarize")).owned_by == "postern"
    with pytest.raises(NotFoundError):
        await client.models.retrieve("gpt-4o")

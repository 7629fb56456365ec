"""What is particular about Vertex AI and its storage, over sockets: the rest is asked of every provider."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NoCapacity, NotAdmitted, NotFound, RateLimited, TryAgainLater, Unknowable
from shared.domain.ids import BatchId, FileId
from shared.domain.rows import RowKind
from tests.contract.batching.chunks import create, download, finished, harvest, input_of, keys
from tests.contract.batching.service import Service
from tests.contract.batching.vertex import vertex
from tests.local.simulator.process import Simulator

pytestmark = pytest.mark.stack

MANY = [f"question number {n}" for n in range(40)]


@pytest.fixture
async def service(batch_simulator: Simulator) -> AsyncIterator[Service]:
    async with vertex()(batch_simulator) as made:
        yield made


async def test_all_shards_are_read_in_whatever_order_and_empty_ones_too(service: Service) -> None:
    service.spoil("number 7", Fate.REJECTED)

    ended, rows = await finished(service, *MANY)

    assert sorted(row.key or "" for row in rows) == sorted(keys(range(40)))
    assert [row.key for row in rows if row.kind is RowKind.ERROR] == ["run-7"]
    assert ended.output_file is not None


async def test_a_shard_without_a_last_newline_does_not_swallow_the_next_ones_first_row(
    batch_simulator: Simulator, service: Service
) -> None:
    rule = {"match": {"contains": "number 3"}, "then": {"outcome": "malformed", "shape": "last_line"}}
    rules = batch_simulator.get("rules")
    batch_simulator.send("DELETE", "rules")
    kept = [{name: each[name] for name in ("match", "then", "times") if name in each} for each in rules]
    batch_simulator.send("POST", "rules", [rule, *kept])

    _, rows = await finished(service, *(f"question number {n} of nine" for n in range(9)))

    assert sorted(row.key or "" for row in rows if row.kind is RowKind.ANSWER) == sorted(
        key for key in keys(range(9)) if key != "run-3"
    )


async def test_a_job_that_partially_succeeded_has_ended_and_its_other_rows_are_missing(
    batch_simulator: Simulator, service: Service
) -> None:
    batch = await create(service, *MANY)
    batch_simulator.rule(match={"contains": "number 1"}, then={"outcome": "expired"})

    await service.finish(batch.id)
    ended, rows = await harvest(service.provider, batch)

    assert (ended.raw_state, ended.end) == ("JOB_STATE_PARTIALLY_SUCCEEDED", BatchEnd.COMPLETED)
    # Numbers 1 and 10 to 19.
    assert len(rows) == 29
    assert {row.kind for row in rows} == {RowKind.ANSWER}


async def test_nothing_is_left_in_the_bucket_after_the_harvest(service: Service) -> None:
    ended, _ = await finished(service, *MANY)
    assert ended.input_file is not None
    assert ended.output_file is not None

    for _ in range(2):
        await service.provider.delete_file(ended.input_file)
        await service.provider.delete_file(ended.output_file)

    for gone in (download(service.provider, ended.output_file), service.provider.expiry(ended.output_file)):
        with pytest.raises(NotFound):
            await gone


async def test_of_two_uploads_of_a_chunk_one_can_be_deleted(service: Service) -> None:
    chunk = input_of(service.provider, "one")
    first, second = await service.provider.stage(chunk), await service.provider.stage(chunk)

    await service.provider.delete_file(second.id)

    assert (await service.provider.staged(first.id)).ready


async def test_nobody_elses_objects_are_read_or_deleted(service: Service) -> None:
    for file in ("gs://elsewhere/postern/a.jsonl", "gs://batches/payroll/", "/etc/passwd"):
        with pytest.raises(NotFound):
            await service.provider.delete_file(FileId(file))
        with pytest.raises(NotFound):
            await download(service.provider, FileId(file))


async def test_an_upload_that_is_not_whole_is_not_kept(service: Service) -> None:
    chunk = input_of(service.provider, "one")

    with pytest.raises(TryAgainLater, match="bytes"):
        await service.provider.stage(replace(chunk, size=chunk.size + 1))


async def test_a_full_queue_is_no_tenants_fault(batch_simulator: Simulator, service: Service) -> None:
    batch_simulator.send("POST", "quota", {"provider": "vertex", "enqueued_tokens": 1})
    try:
        with pytest.raises(NoCapacity):
            await create(service, *MANY)
        failing = {"provider": "vertex", "enqueued_tokens": 1, "refusal": "failed"}
        batch_simulator.send("POST", "quota", failing)
        batch = await create(service, *MANY)
        await service.finish(batch.id)
    finally:
        batch_simulator.send("DELETE", "quota")

    ended = await service.provider.retrieve(batch.id)
    assert (ended.end, ended.out_of_capacity) == (BatchEnd.FAILED, True)


@pytest.mark.parametrize("then", [{"drop": "after"}, {"status": 503, "applied": True}])
async def test_a_create_without_an_answer_is_sent_once(
    batch_simulator: Simulator, service: Service, then: dict[str, object]
) -> None:
    batch_simulator.send("DELETE", "journal")
    chunk = input_of(service.provider, "one")
    file = (await service.provider.stage(chunk)).id
    batch_simulator.send("DELETE", "rules")
    batch_simulator.rule(match={"operation": "create"}, then=then)

    with pytest.raises(Unknowable):
        await service.provider.create(chunk, file)

    # The SDK's usual HTTP client would have repeated it after some seconds.
    assert len(batch_simulator.journal("create")) == 1


async def test_the_wait_that_google_asks_for_stands_in_the_body(
    batch_simulator: Simulator, service: Service
) -> None:
    batch = await create(service)
    wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}
    error = {"code": 429, "message": "Slow down.", "status": "RESOURCE_EXHAUSTED", "details": [wait]}
    batch_simulator.rule(match={"operation": "retrieve"}, then={"status": 429, "body": {"error": error}})

    with pytest.raises(RateLimited) as limited:
        await service.provider.retrieve(batch.id)

    assert limited.value.retry_after == timedelta(seconds=12.5)


async def test_a_model_that_is_not_there_is_the_operators_to_mend(
    batch_simulator: Simulator, service: Service
) -> None:
    error = {"code": 404, "message": "Publisher Model was not found.", "status": "NOT_FOUND"}
    batch_simulator.rule(match={"operation": "create"}, then={"status": 404, "body": {"error": error}})

    with pytest.raises(NotAdmitted, match="model"):
        await create(service)


async def test_what_is_no_id_of_a_job_is_not_found(service: Service) -> None:
    with pytest.raises(NotFound):
        await service.provider.retrieve(BatchId("../../secrets"))


async def test_a_page_with_nothing_on_it_is_not_the_end_of_a_list(
    batch_simulator: Simulator, service: Service
) -> None:
    chunk = input_of(service.provider, "one")
    batch = await service.provider.create(chunk, (await service.provider.stage(chunk)).id)
    empty = {"batchPredictionJobs": [], "nextPageToken": "1"}
    rule = {"match": {"operation": "list"}, "then": {"body": empty}, "times": 2}
    batch_simulator.send("POST", "rules", [rule])

    with pytest.raises(TryAgainLater, match="circles"):
        await service.provider.find(chunk, since=service.start)

    rule = {"match": {"operation": "list"}, "then": {"body": {"nextPageToken": ""}}, "times": 1}
    first = {"match": {"operation": "list"}, "then": {"body": empty}, "times": 1}
    batch_simulator.send("POST", "rules", [first, rule])
    assert await service.provider.find(chunk, since=service.start) is None
    found = await service.provider.find(chunk, since=service.start)
    assert found is not None
    assert found.id == batch.id

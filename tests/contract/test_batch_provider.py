"""The promises of `shared.ports.providers.BatchProvider`, asked of every provider."""

import json
from datetime import timedelta

import pytest

from shared.domain.catalog import Endpoint
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.domain.rows import Finish, RowKind
from shared.ports.providers import RemoteState
from tests.contract.batching.chunks import (
    KEY,
    create,
    download,
    finished,
    hand_over,
    input_of,
    keys,
    lines_of,
    stage,
)
from tests.contract.batching.service import Service
from tests.support.chunks import chunk_input


def test_a_request_is_one_line(service: Service) -> None:
    line = lines_of(service.provider, "a\nb\u2028c")

    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.dumps("a\nb\u2028c") in json.dumps(json.loads(line))


def test_no_line_makes_the_reader_raise(service: Service) -> None:
    for line in (b"", b"null", b"[1,2,3]", b"\xff", b'{"custom_id": "k"'):
        assert service.provider.read_row(Endpoint.CHAT, line).kind is RowKind.UNREADABLE


async def test_what_was_staged_is_there_unchanged(service: Service) -> None:
    if not service.ways.keeps_input:
        pytest.skip("the input goes with the create")
    content = lines_of(service.provider, "Grüße", "a\nb")

    file = await hand_over(service, chunk_input(KEY, content))

    assert (await service.provider.staged(file)).ready
    assert await download(service.provider, file) == content


async def test_an_input_file_that_is_left_over_expires_by_itself(service: Service) -> None:
    if not service.ways.keeps_input:
        pytest.skip("the input goes with the create")
    file = await stage(service)

    staged = await service.provider.staged(file)
    if staged.is_ours:
        pytest.skip("it lies in our own storage and goes with the batch")
    expires_at = staged.expires_at
    assert expires_at is not None
    assert expires_at >= service.start + timedelta(days=2)
    assert await service.provider.expiry(file) == expires_at


async def test_a_batch_that_was_never_created_is_not_found(service: Service) -> None:
    await create(service)

    # Another number of requests, too: where batches carry no key it is all there is to go by.
    other = input_of(service.provider, "one", "two", key=ChunkKey("job_1-0-1-2"), run="other")
    assert await service.provider.find(other, since=service.start) is None


async def test_a_created_batch_is_found_by_its_key(service: Service) -> None:
    chunk = input_of(service.provider)
    file = await hand_over(service, chunk)

    created = await service.provider.create(chunk, file)
    found = await service.provider.find(chunk, since=service.start)

    assert found is not None
    assert found.id == created.id
    assert found.key == (KEY if service.provider.traits.find_is_exact else None)
    assert found.input_file == (file if service.ways.keeps_input else None)
    assert (await service.provider.retrieve(created.id)).id == created.id


async def test_a_batch_is_found_although_the_clocks_differ_by_minutes(service: Service) -> None:
    await create(service)

    later = service.start + timedelta(minutes=5)
    assert await service.provider.find(input_of(service.provider), since=later) is not None


async def test_a_running_batch_has_no_end(service: Service) -> None:
    batch = await create(service)

    running = await service.provider.retrieve(batch.id)

    assert (running.state, running.end) == (RemoteState.RUNNING, None)
    assert running.created_at is not None


async def test_a_completed_batch_answers_every_request_under_its_key(service: Service) -> None:
    ended, rows = await finished(service, "one", "two", "three")

    assert (ended.state, ended.end) == (RemoteState.ENDED, BatchEnd.COMPLETED)
    assert (ended.completed, ended.failed) == (3, 0)
    assert ended.output_file is not None
    assert sorted(row.key or "" for row in rows) == keys(range(3))
    assert all(row.kind is RowKind.ANSWER and row.finish is Finish.STOP and row.text for row in rows)
    assert all(row.usage is not None and row.usage.output > 0 for row in rows)


async def test_results_stay_for_days(service: Service) -> None:
    batch = await create(service)
    await service.finish(batch.id)
    ended = await service.provider.retrieve(batch.id)

    assert ended.output_file is not None
    expires_at = await service.provider.expiry(ended.output_file)
    assert expires_at is None or expires_at >= service.start + timedelta(days=14)


async def test_cancelling_is_asked_for_and_may_be_repeated(service: Service) -> None:
    batch = await create(service)

    await service.provider.cancel(batch.id)
    await service.provider.cancel(batch.id)

    assert (await service.provider.retrieve(batch.id)).end in (None, BatchEnd.CANCELLED)


async def test_cancelling_a_batch_that_has_ended_is_no_error(service: Service) -> None:
    batch = await create(service)
    await service.finish(batch.id)

    await service.provider.cancel(batch.id)

    assert (await service.provider.retrieve(batch.id)).end is BatchEnd.COMPLETED


async def test_a_deleted_file_is_gone_and_may_be_deleted_again(service: Service) -> None:
    if not service.ways.keeps_input:
        pytest.skip("the input goes with the create")
    file = await stage(service)

    await service.provider.delete_file(file)
    await service.provider.delete_file(file)

    for gone in (
        service.provider.staged(file),
        service.provider.expiry(file),
        download(service.provider, file),
    ):
        with pytest.raises(NotFound):
            await gone


async def test_what_never_existed_is_not_found(service: Service) -> None:
    with pytest.raises(NotFound):
        await service.provider.retrieve(BatchId("batch_none"))
    if service.ways.keeps_input:
        with pytest.raises(NotFound):
            await service.provider.staged(FileId("file-none"))


async def test_all_batches_of_the_account_are_listed_and_a_side_door_has_no_key(service: Service) -> None:
    chunk = input_of(service.provider)
    file = await hand_over(service, chunk)
    first = await service.provider.create(chunk, file)
    if not service.ways.has_side_door:
        pytest.skip("nobody else can create batches there")
    alien = await service.side_door(chunk, file)

    listed = {batch.id: batch.key async for batch in service.provider.batches(since=service.start)}

    assert listed == {alien: None, first.id: KEY if service.provider.traits.find_is_exact else None}


async def test_batches_before_the_given_time_are_not_listed(service: Service) -> None:
    await create(service)

    later = service.start + timedelta(hours=1)
    assert [batch async for batch in service.provider.batches(since=later)] == []


def test_the_traits_are_usable_figures(service: Service) -> None:
    traits = service.provider.traits

    assert 0 < traits.limits.line_bytes <= traits.limits.bytes
    assert traits.limits.requests >= 10_000
    assert timedelta(hours=1) <= traits.window <= timedelta(days=7)
    assert Endpoint.CHAT in traits.endpoints
    assert timedelta(0) <= traits.listing_lag <= timedelta(minutes=5)

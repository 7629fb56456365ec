"""What goes wrong with batches, asked of every provider: it must look the same whoever it happens at."""

from datetime import timedelta

import pytest

from shared.adapters.memory.provider import Course
from shared.adapters.memory.provider_rows import Fate
from shared.domain.chunks import BatchEnd
from shared.domain.errors import Ambiguous, NotAdmitted, NotFound, TryAgainLater
from shared.domain.outcomes import Outcome
from shared.domain.rows import Again, RowKind, judge
from shared.ports.providers import RemoteState
from tests.contract.batching.chunks import create, finished, hand_over, harvest, input_of, keys
from tests.contract.batching.service import Service

MANY = [f"question number {n}" for n in range(12)]


@pytest.mark.parametrize(
    ("fate", "outcome", "again"),
    [
        (Fate.CONTENT_FILTER, Outcome.REFUSED, Again.NEVER),
        (Fate.FILTERED, Outcome.REFUSED, Again.NEVER),
        (Fate.REFUSAL, Outcome.REFUSED, Again.NEVER),
        (Fate.TRUNCATED, Outcome.TRUNCATED, Again.NEVER),
        (Fate.REJECTED, Outcome.FAILED, Again.NEVER),
        (Fate.ERROR, Outcome.FAILED, Again.TRANSIENT),
        (Fate.RATE_LIMITED, Outcome.FAILED, Again.TRANSIENT),
    ],
)
async def test_what_befalls_one_request_is_its_own_outcome(
    service: Service, fate: Fate, outcome: Outcome, again: Again
) -> None:
    if fate in service.ways.never:
        pytest.skip("that cannot happen there")
    service.spoil("spoilt", fate)

    _, rows = await finished(service, "a fine one", "a spoilt one", "another fine one")

    found = {row.key: judge(row, None) for row in rows}
    spoilt = found.pop(keys([1])[0])
    assert (spoilt.outcome, spoilt.again) == (outcome, again)
    assert {key: one.outcome for key, one in found.items()} == dict.fromkeys(keys([0, 2]), Outcome.SUCCEEDED)


async def test_a_batch_in_which_everything_failed_tells_it_request_by_request(service: Service) -> None:
    service.spoil("question", Fate.REJECTED)

    ended, rows = await finished(service, *MANY)

    assert ended.state is RemoteState.ENDED
    assert sorted(row.key or "" for row in rows) == sorted(keys(range(12)))
    assert {row.kind for row in rows} == {RowKind.ERROR}
    assert {judge(row, None).again for row in rows} == {Again.NEVER}


async def test_rows_may_come_in_any_order(service: Service) -> None:
    for n in range(12):
        service.answer(f"number {n} ", f"answer {n}")

    _, rows = await finished(service, *(f"question number {n} of many" for n in range(12)))

    assert {row.key: row.text for row in rows} == {
        key: f"answer {n}" for n, key in enumerate(keys(range(12)))
    }


async def test_equal_requests_are_told_apart(service: Service) -> None:
    _, rows = await finished(service, "the same", "the same", "the same")

    assert sorted(row.key or "" for row in rows) == keys(range(3))


async def test_a_row_that_is_missing_takes_no_other_with_it(service: Service) -> None:
    if Fate.MISSING in service.ways.never:
        pytest.skip("that cannot happen there")
    service.spoil("spoilt", Fate.MISSING)

    _, rows = await finished(service, "one", "a spoilt one", "three")

    assert sorted(row.key or "" for row in rows) == keys([0, 2])


async def test_a_row_that_comes_twice_is_twice_the_same(service: Service) -> None:
    if Fate.DUPLICATE in service.ways.never:
        pytest.skip("that cannot happen there")
    service.spoil("spoilt", Fate.DUPLICATE)

    _, rows = await finished(service, "one", "a spoilt one", "three")

    assert sorted(row.key or "" for row in rows) == keys([0, 1, 1, 2])
    assert {row.kind for row in rows} == {RowKind.ANSWER}


async def test_a_row_that_breaks_off_is_unreadable_and_alone(service: Service) -> None:
    service.spoil("spoilt", Fate.MALFORMED)

    _, rows = await finished(service, "one", "a spoilt one", "three")

    assert sorted(row.kind for row in rows) == [RowKind.ANSWER, RowKind.ANSWER, RowKind.UNREADABLE]
    assert sorted(row.key or "" for row in rows if row.kind is RowKind.ANSWER) == keys([0, 2])


async def test_line_separators_of_unicode_inside_an_answer_end_no_line(service: Service) -> None:
    service.answer("special", "one\u2028two\u2029three\u0085four\nfive\r\nsix")

    _, rows = await finished(service, "something special")

    assert [row.text for row in rows] == ["one\u2028two\u2029three\u0085four\nfive\r\nsix"]


async def test_a_batch_that_expires_keeps_what_was_answered(service: Service) -> None:
    if not service.ways.can_expire:
        pytest.skip("batches run on there until they are done")
    service.course(Course(end=BatchEnd.EXPIRED, done=5))

    ended, rows = await finished(service, *MANY)

    assert ended.end is BatchEnd.EXPIRED
    assert [row.kind for row in rows].count(RowKind.ANSWER) == 5
    assert {row.kind for row in rows} <= {RowKind.ANSWER, RowKind.EXPIRED}


async def test_a_batch_that_is_cancelled_half_way_keeps_what_was_answered(service: Service) -> None:
    service.course(Course(end=BatchEnd.CANCELLED, done=5))
    batch = await create(service, *MANY)
    await service.under_way(batch.id, 5)

    await service.provider.cancel(batch.id)
    await service.finish(batch.id)

    ended, rows = await harvest(service.provider, batch)
    answered = [row for row in rows if row.kind is RowKind.ANSWER]
    assert ended.end is BatchEnd.CANCELLED
    assert len(answered) == len({row.key for row in answered}) == 5
    assert {row.kind for row in rows} <= {RowKind.ANSWER, RowKind.CANCELLED}


async def test_a_batch_that_is_refused_as_a_whole_says_why(service: Service) -> None:
    if not service.ways.can_fail:
        pytest.skip("what is wrong is said at the create there")
    service.course(Course(end=BatchEnd.FAILED, code="model_not_found"))

    ended, rows = await finished(service, *MANY)

    assert (ended.end, ended.out_of_capacity) == (BatchEnd.FAILED, False)
    assert ended.code == ("model_not_found" if service.ways.codes_failures else None)
    assert ended.code or ended.message
    assert rows == []


async def test_a_create_whose_answer_is_lost_is_found_and_was_one(service: Service) -> None:
    if not service.ways.is_elsewhere:
        pytest.skip("the batch is our own record there")
    service.lose_create()
    chunk = input_of(service.provider, *MANY)
    file = await hand_over(service, chunk)

    with pytest.raises(TryAgainLater):
        await service.provider.create(chunk, file)

    service.pass_time(service.provider.traits.listing_lag)
    found = await service.provider.find(chunk, since=service.start)
    assert found is not None
    assert [batch.id async for batch in service.provider.batches(since=service.start)] == [found.id]


async def test_a_batch_that_no_list_has_yet_is_found_within_the_lag_that_is_promised(
    service: Service,
) -> None:
    if not service.ways.is_elsewhere:
        pytest.skip("the batch is our own record there")
    lag = service.provider.traits.listing_lag
    service.hide(lag)
    batch = await create(service)

    service.pass_time(lag + timedelta(seconds=1))

    found = await service.provider.find(input_of(service.provider), since=service.start)
    assert found is not None
    assert found.id == batch.id


async def test_a_batch_that_cannot_be_looked_at_just_after_its_create_turns_up(service: Service) -> None:
    if not service.ways.is_elsewhere:
        pytest.skip("the batch is our own record there")
    service.absent(timedelta(seconds=30))
    batch = await create(service)

    with pytest.raises((NotFound, TryAgainLater)):
        await service.provider.retrieve(batch.id)

    service.pass_time(timedelta(seconds=31))
    assert (await service.provider.retrieve(batch.id)).state is RemoteState.RUNNING


async def test_a_state_that_nobody_knows_goes_on(service: Service) -> None:
    if not service.ways.is_elsewhere:
        pytest.skip("the batch is our own record there")
    batch = await create(service)

    await service.strange(batch.id)

    seen = await service.provider.retrieve(batch.id)
    assert (seen.state, seen.recognised, seen.end) == (RemoteState.RUNNING, False, None)
    assert "hibernating" in seen.raw_state.lower()


async def test_credentials_that_are_refused_are_nobodys_fault_and_may_be_mended(service: Service) -> None:
    batch = await create(service)
    service.lock_out()

    with pytest.raises(NotAdmitted):
        await service.provider.retrieve(batch.id)

    assert (await service.provider.retrieve(batch.id)).id == batch.id


async def test_of_two_batches_that_could_be_it_none_is_taken(service: Service) -> None:
    if not service.ways.repeats_creates:
        pytest.skip("a second create makes no second batch there")
    for _ in range(2):
        await create(service, *MANY)
    service.pass_time(service.provider.traits.listing_lag)

    with pytest.raises(Ambiguous):
        await service.provider.find(input_of(service.provider, *MANY), since=service.start)

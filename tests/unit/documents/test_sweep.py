"""What the sweep finds of documents that nobody is at any more."""

import itertools
import random
from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.documents import DocumentStatus
from shared.domain.errors import TryAgainLater
from shared.ports.tables import Entity
from shared.services.documents import sweep_drop_zone
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered

NOTE = "support/notes/a.txt"
STUCK = timedelta(minutes=16)


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


async def kinds(world: DocumentWorld) -> list[str]:
    return sorted(finding.kind.value for finding in await world.findings())


# Missed events


async def test_a_drop_whose_event_never_came_is_claimed_once_it_is_old_enough(world: DocumentWorld) -> None:
    await world.drop(NOTE)
    await world.sweep()
    assert await world.all() == []

    world.clock.advance(STUCK)
    await world.sweep()
    await world.sweep()
    assert (await world.one()).status is DocumentStatus.QUEUED
    assert len(world.queue.sent) == 1
    assert await kinds(world) == ["missed_event"]


async def test_claims_that_are_behind_are_no_missed_events(world: DocumentWorld) -> None:
    """A flood takes longer than the sweep waits for an event: what has its turn to come is left alone."""
    places = []
    for n in range(12):
        places.append(await world.drop(f"support/notes/{n:02}.txt"))
        world.clock.advance(timedelta(minutes=2))
    for place in places[:-2]:
        world.clock.advance(timedelta(minutes=5))
        await world.app.claim_document(place)
        await world.sweep()

    assert await kinds(world) == []
    assert len(await world.all()) == 10
    for place in places[-2:]:
        await world.app.claim_document(place)
    world.clock.advance(STUCK)
    await world.sweep()
    assert "missed_event" not in await kinds(world)


async def test_an_event_that_others_have_overtaken_is_missed_although_there_is_much_to_do(
    world: DocumentWorld,
) -> None:
    await world.drop(NOTE)
    for n in range(12):
        world.clock.advance(timedelta(minutes=2))
        await world.claim(f"support/notes/later-{n}.txt")
        await world.sweep()

    assert await kinds(world) == ["missed_event"]
    assert len(await world.all()) == 13


async def test_claims_that_never_come_forward_are_not_waited_for_for_ever(world: DocumentWorld) -> None:
    old = await world.drop("support/notes/old.txt")
    world.clock.advance(timedelta(minutes=1))
    await world.drop(NOTE)
    passes = 0
    while len(await world.all()) < 2:
        world.clock.advance(timedelta(minutes=10))
        await world.app.claim_document(old)
        await world.sweep()
        passes += 1
        assert passes < 20
    assert passes > 15
    assert await kinds(world) == ["late_document", "missed_event"]


async def test_what_was_left_to_its_event_is_looked_at_again(world: DocumentWorld) -> None:
    first = await world.drop("support/notes/first.txt")
    world.clock.advance(timedelta(minutes=1))
    await world.drop(NOTE)
    world.clock.advance(STUCK)
    await world.app.claim_document(first)
    await world.sweep()
    await world.sweep()
    assert len(await world.all()) == 1

    world.clock.advance(STUCK)
    await world.sweep()
    assert len(await world.all()) == 2
    assert await kinds(world) == ["missed_event"]


async def test_what_has_its_record_is_left_alone(world: DocumentWorld) -> None:
    await world.process(NOTE)
    await world.claim("nobody/notes/a.txt")
    await world.claim("support/notes/b.txt", b"")
    world.clock.advance(STUCK)
    await world.sweep()

    assert await kinds(world) == []
    assert len(world.queue.sent) == 1


async def test_folders_are_no_missed_documents(world: DocumentWorld) -> None:
    await world.drop("support/notes/folder", b"", metadata={"hdi_isfolder": "true"})
    world.clock.advance(STUCK)
    await world.sweep()
    assert (await world.all(), await kinds(world)) == ([], [])


async def test_a_walk_goes_on_where_the_last_pass_has_ended(
    world: DocumentWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_drop_zone, "MAX_PAGES", 1)
    whole_page = world.blobs.page
    monkeypatch.setattr(world.blobs, "page", partial(whole_page, limit=3))
    for n in range(10):
        await world.drop(f"support/notes/{n}.txt")
    world.clock.advance(STUCK)
    seen = []
    for _ in range(4):
        await world.sweep()
        seen.append(len(await world.all()))

    assert seen == [3, 6, 9, 10]


async def test_what_an_earlier_round_has_seen_is_not_looked_up_again(world: DocumentWorld) -> None:
    await world.process(NOTE)
    world.clock.advance(STUCK)
    await world.sweep()
    world.clock.advance(STUCK)
    await world.sweep()
    looks: list[str] = []
    find = world.tables.get

    async def counted(table: str, partition: str, row: str) -> Entity | None:
        looks.append(table)
        return await find(table, partition, row)

    world.tables.get = counted  # type: ignore[method-assign]
    await world.sweep()
    assert "documents" not in looks


async def test_five_hundred_drops_with_repeated_and_lost_events_end_as_five_hundred_results(
    world: DocumentWorld,
) -> None:
    dice = random.Random(7)
    events = [await world.drop(f"support/notes/{n}.txt", b"Text %d" % n) for n in range(500)] * 3
    lost = set(dice.sample(range(500), 25))
    dice.shuffle(events)
    for place in events:
        if int(place.rsplit("/", 1)[1][:-4]) not in lost:
            await world.app.claim_document(place)
    await world.deliver()
    world.clock.advance(STUCK)
    await world.sweep()
    await world.deliver()

    documents = await world.all()
    assert len(documents) == 500
    assert {document.outcome for document in documents} == {"succeeded"}
    assert len([info async for info in world.blobs.list("results/")]) == 500
    assert len(world.model.asked) == 500


# Messages that were never sent, and workers that died


async def test_a_record_whose_message_was_never_sent_is_sent(world: DocumentWorld) -> None:
    world.queue.refuse(1)
    with suppress(TryAgainLater):
        await world.claim(NOTE)
    await world.sweep()
    assert world.queue.sent == []

    world.clock.advance(STUCK)
    await world.sweep()
    await world.sweep()
    assert len(world.queue.sent) == 1
    await world.deliver()
    assert (await world.one()).outcome == "succeeded"
    assert await kinds(world) == ["unsent_message"]


async def test_a_document_whose_worker_died_with_its_message_is_sent_anew(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    delivery = world.queue.receive()
    assert delivery is not None
    with suppress(PowerCut):
        app = world.power_up(partial(powered, mains=Mains(cut_before=3)))
        await app.process_document(delivery.message.body)
    world.queue.complete(delivery)
    world.clock.advance(timedelta(minutes=5))
    await world.sweep()
    assert world.queue.waiting() == 0

    world.clock.advance(STUCK)
    await world.sweep()
    await world.sweep()
    assert world.queue.waiting() == 1
    await world.deliver()
    document = await world.one()
    assert (document.outcome, document.crashes, document.generation) == ("succeeded", 1, 2)
    assert await kinds(world) == ["lost_document"]


async def test_a_document_that_kills_every_worker_is_given_up(world: DocumentWorld) -> None:
    async def crash(_: float) -> None:
        raise ZeroDivisionError

    world.model.manners.sleep = crash
    await world.claim(NOTE)
    await world.deliver()
    assert len(world.queue.dead) == 1
    world.clock.advance(STUCK)
    await world.sweep()
    await world.deliver()

    document = await world.one()
    assert (document.outcome, document.reason) == ("failed", "infrastructure")
    assert "5 workers died over it" in (document.message or "")
    assert await kinds(world) == ["given_up_document"]
    assert await world.result(NOTE) is not None


async def test_a_document_that_kills_processes_is_given_up_after_as_many(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    deaths = 0
    while not (await world.one()).is_finished:
        delivery = world.queue.receive()
        if delivery is None:
            world.clock.advance(timedelta(minutes=1))
            await world.sweep()
            continue
        try:
            app = world.power_up(partial(powered, mains=Mains(cut_before=3)))
            await app.process_document(delivery.message.body)
        except PowerCut:
            deaths += 1
        else:
            world.queue.complete(delivery)
        assert deaths < 20

    document = await world.one()
    assert (document.outcome, document.reason) == ("failed", "infrastructure")


async def test_what_waits_on_the_queue_is_not_sent_again(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    for _ in range(5):
        world.clock.advance(STUCK)
        await world.sweep()
    assert len(world.queue.sent) == 1


async def test_what_waited_on_a_queue_that_was_lost_is_sent_anew(world: DocumentWorld) -> None:
    for n in range(3):
        await world.claim(f"support/notes/{n}.txt")
    world.queue.lose_everything()
    await world.sweep()
    assert world.queue.waiting() == 0

    world.clock.advance(STUCK)
    await world.sweep()
    assert world.queue.waiting() == 0
    world.clock.advance(timedelta(hours=1))
    await world.sweep()
    assert world.queue.waiting() == 3
    world.clock.advance(timedelta(hours=2))
    await world.sweep()
    await world.deliver()

    assert {document.outcome for document in await world.all()} == {"succeeded"}
    assert len(world.model.asked) == 3
    assert await kinds(world) == ["late_document", "lost_document"]


async def test_a_message_that_is_scheduled_far_ahead_is_not_taken_for_lost(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.RATE_LIMITED
    world.model.manners.retry_after = timedelta(hours=3)
    await world.claim(NOTE)
    await world.deliver(within=timedelta(0))
    sent = len(world.queue.sent)
    for _ in range(6):
        world.clock.advance(STUCK)
        await world.sweep()

    assert len(world.queue.sent) == sent


async def test_a_late_document_is_marked_and_told_once(world: DocumentWorld) -> None:
    for n in range(3):
        await world.claim(f"support/notes/{n}.txt")
    world.clock.advance(timedelta(minutes=50))
    await world.sweep()
    assert not any(document.late for document in await world.all())
    world.clock.advance(timedelta(minutes=16))
    await world.sweep()
    world.clock.advance(STUCK)
    await world.sweep()

    assert all(document.late for document in await world.all())
    assert await kinds(world) == ["late_document"]
    await world.deliver()
    assert {document.outcome for document in await world.all()} == {"succeeded"}


async def test_after_any_cut_in_claim_or_processing_the_sweep_leaves_nothing_open() -> None:
    for number, after in itertools.product(range(1, 40), (False, True)):
        world = DocumentWorld()
        mains = Mains(cut_after=number) if after else Mains(cut_before=number)
        app = world.power_up(partial(powered, mains=mains))
        place = await world.drop(NOTE)
        try:
            await app.claim_document(place)
            delivery = world.queue.receive()
            assert delivery is not None
            await app.process_document(delivery.message.body)
        except PowerCut:
            pass
        else:
            assert number > 12, "there was something to cut"
            return
        for _ in range(3):
            world.clock.advance(STUCK)
            await world.sweep()
            await world.deliver(within=timedelta(0))
        document = await world.one()
        assert document.outcome == "succeeded", f"cut at {number}"
        for shard in range(8):
            left = [entry async for entry in world.app.sweep.sweep_open_documents.open.of_shard(shard)]
            assert left == []

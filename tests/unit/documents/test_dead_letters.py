"""Messages that were given up: told by reason, and every document has its outcome all the same."""

from datetime import timedelta
from functools import partial

import pytest

from shared.domain.documents import DocumentStatus
from shared.ports.queue import Message
from shared.services.documents import sweep_dead_letters
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered

NOTE = "support/notes/a.txt"


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


def bury(world: DocumentWorld, reason: str = "TTLExpiredException") -> None:
    delivery = world.queue.receive()
    assert delivery is not None
    world.queue.bury(delivery, reason, "words of the service")


async def reasons(world: DocumentWorld) -> list[str]:
    found = await world.findings(None)
    return sorted(each.detail["reason"] for each in found if each.kind.value == "dead_letter")


async def test_each_reason_is_told_once_however_often_it_is_seen(world: DocumentWorld) -> None:
    for n, reason in enumerate(("one", "another", "one", "")):
        await world.queue.send(Message(id=f"m-{n}", body=b"no claim", correlation_id="c"))
        bury(world, reason)

    await world.sweep()
    await world.sweep()

    assert await reasons(world) == ["another", "one", "unknown"]
    assert len(world.announced("postern.finding.raised")) == 3
    assert len(await world.queue.dead_letters()) == 4


async def test_a_document_that_waits_for_a_message_that_was_given_up_is_sent_anew(
    world: DocumentWorld,
) -> None:
    await world.claim(NOTE)
    bury(world)

    await world.sweep()
    await world.sweep()

    document = await world.one()
    assert (document.status, document.generation) == (DocumentStatus.QUEUED, 2)
    assert world.queue.waiting() == 1
    await world.deliver()
    assert (await world.one()).outcome == "succeeded"
    await world.sweep()
    assert world.queue.waiting() == 0
    assert len(world.model.asked) == 1


async def test_a_message_ahead_of_its_record_is_not_taken_for_a_repeat_when_it_is_given_up(
    world: DocumentWorld,
) -> None:
    """Who has not had its turn sends a later message and leaves the record as it is."""
    await world.claim(NOTE)
    message = world.queue.sent[0]
    claim = message.body.replace(b'"generation":1', b'"generation":7')
    delivery = world.queue.receive()
    assert delivery is not None
    world.queue.complete(delivery)
    await world.queue.send(Message(id="ahead", body=claim, correlation_id="c"))
    bury(world)

    await world.sweep()

    assert (await world.one()).generation == 8
    await world.deliver()
    assert (await world.one()).outcome == "succeeded"


async def test_a_document_whose_messages_are_always_given_up_ends_with_a_finding(
    world: DocumentWorld,
) -> None:
    await world.claim(NOTE)
    for _ in range(world.policy.max_crashes - 1):
        bury(world)
        await world.sweep()
    bury(world)
    await world.sweep()

    document = await world.one()
    assert (document.outcome, document.reason) == ("failed", "infrastructure")
    assert "dead-lettered 5 times" in (document.message or "")
    assert await world.result(NOTE) is not None
    assert [f.kind.value for f in await world.findings()] == ["given_up_document"]
    assert world.queue.waiting() == 0
    assert world.model.asked == []


async def test_a_finished_document_is_left_alone(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    [message] = world.queue.sent
    await world.deliver()
    await world.queue.send(Message(id="again", body=message.body, correlation_id="c"))
    bury(world)
    before = await world.one()

    await world.sweep()

    assert await world.one() == before
    assert world.queue.waiting() == 0


async def test_a_document_in_a_worker_s_hands_is_left_to_its_lease(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    delivery = world.queue.receive()
    assert delivery is not None
    app = world.power_up(partial(powered, mains=Mains(cut_before=3)))
    with pytest.raises(PowerCut):
        await app.process_document(delivery.message.body)
    world.queue.bury(delivery, "MaxDeliveryCountExceeded")

    await world.sweep()

    assert (await world.one()).status is DocumentStatus.PROCESSING
    assert world.queue.waiting() == 0


async def test_what_is_no_claim_or_names_nothing_hides_no_other(world: DocumentWorld) -> None:
    await world.queue.send(Message(id="m-1", body=b"{}", correlation_id="c"))
    bury(world)
    await world.claim("support/notes/gone.txt")
    [unknown] = [m.body.replace(b"doc_", b"doc_f") for m in world.queue.sent if b"doc_" in m.body]
    await world.deliver()
    await world.queue.send(Message(id="m-2", body=unknown, correlation_id="c"))
    bury(world)
    await world.claim(NOTE)
    bury(world)

    await world.sweep()
    await world.deliver()

    assert {document.outcome for document in await world.all()} == {"succeeded"}


async def test_power_may_fail_while_a_document_is_rescued() -> None:
    for number in range(1, 20):
        world = DocumentWorld()
        await world.claim(NOTE)
        bury(world)
        mains = Mains(cut_after=number)
        try:
            await world.power_up(partial(powered, mains=mains)).sweep(world.engine)
        except PowerCut:
            await world.sweep()
            await world.deliver()
            assert (await world.one()).outcome == "succeeded", f"cut after {number}"
            assert len(world.model.asked) == 1
        else:
            assert mains.effects > 5
            return


async def test_a_long_queue_of_them_is_walked_over_several_passes(
    world: DocumentWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_dead_letters, "MAX_PAGES", 2)
    monkeypatch.setattr(sweep_dead_letters, "PAGE", 3)
    for n in range(10):
        await world.claim(f"support/notes/{n}.txt")
    for _ in range(10):
        bury(world)

    rescued = []
    for _ in range(2):
        await world.sweep()
        rescued.append(sum(document.generation == 2 for document in await world.all()))

    assert rescued == [6, 10]
    await world.deliver()
    world.clock.advance(timedelta(minutes=1))
    await world.sweep()
    assert {document.outcome for document in await world.all()} == {"succeeded"}

"""What becomes of a claimed document."""

import asyncio
import itertools
from collections import deque
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.adapters.memory.queue import LockLost, MemoryQueue
from shared.domain.documents import DocumentStatus
from shared.domain.errors import Deferred, TryAgainLater
from shared.domain.extraction import ExtractionLimits, Unreadable, UnreadableReason
from shared.ports.queue import Message
from shared.wire.claims import read_claim
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered
from tests.support.world import SUPPORT

NOTE = "support/notes/a.txt"


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


async def test_an_answer_ends_as_result_record_ledger_row_and_event(world: DocumentWorld) -> None:
    document = await world.process(NOTE, b"Some text.", project="red")

    assert document.status is DocumentStatus.COMPLETED
    assert (document.outcome, document.reason, document.attempts) == ("succeeded", None, 1)
    [row] = await world.ledger()
    assert (row.source, row.attempt, row.requests) == (f"document|{document.id}", 1, 1)
    assert (row.lane, row.alias, row.deployment, row.tags) == (
        "minutes",
        "summarize",
        "mini",
        {"project": "red"},
    )
    assert row.usage == document.usage
    usage = document.usage
    assert usage is not None
    assert await world.result(NOTE) == {
        "document": {
            "id": document.id,
            "path": NOTE,
            "etag": document.etag,
            "content_type": "text/plain",
            "bytes": 10,
            "pages": None,
            "pages_without_text": [],
        },
        "outcome": "succeeded",
        "reason": None,
        "message": None,
        "output": "answer 10",
        "parts": None,
        "usage": {
            "input_tokens": usage.input,
            "cached_input_tokens": 0,
            "cache_write_tokens": 0,
            "output_tokens": usage.output,
            "reasoning_tokens": 0,
        },
        "cost": {"amount": f"{row.spend.amount.normalize():f}", "currency": "USD"},
        "provider": "azure_openai",
        "model": "gpt-5-mini",
        "attempts": 1,
        "finished_at": "2026-11-30T08:00:00Z",
    }
    [event] = world.events.published
    assert (event.type, event.subject) == (
        "postern.document.completed",
        f"tenants/support/documents/{document.id}",
    )
    assert "answer 10" not in str(event.data)


async def test_nothing_is_left_of_a_finished_document_but_its_record_and_result(world: DocumentWorld) -> None:
    await world.process(NOTE)

    assert [info.path async for info in world.blobs.list("jobs/")] == []
    assert world.queue.waiting() == 0
    assert world.queue.dead == []


async def test_the_model_is_told_who_asks(world: DocumentWorld) -> None:
    document = await world.process(NOTE)

    [question] = world.model.asked
    assert (question.tenant, question.correlation_id) == ("support", document.id)


@pytest.mark.parametrize(
    ("fate", "outcome", "reason"),
    [
        (Fate.CONTENT_FILTER, "refused", "content_filter"),
        (Fate.REFUSAL, "refused", "refusal"),
        (Fate.REJECTED, "failed", "invalid_request"),
    ],
)
async def test_refusals_are_results_on_the_first_delivery(
    world: DocumentWorld, fate: Fate, outcome: str, reason: str
) -> None:
    world.model.manners.fates["Some text"] = fate
    await world.claim(NOTE)
    assert await world.deliver() == 1

    document = await world.one()
    assert (document.status, document.outcome, document.reason) == ("failed", outcome, reason)
    result = await world.result(NOTE)
    assert result is not None
    assert (result["outcome"], result["reason"]) == (outcome, reason)


@pytest.mark.parametrize("reason", [r for r in UnreadableReason if r != "empty"])
async def test_what_cannot_be_read_costs_nothing_and_is_a_result_at_once(
    world: DocumentWorld, reason: UnreadableReason
) -> None:
    world.extractor.answers["a.pdf"] = Unreadable(reason=reason, message="It cannot be read.")
    await world.claim("support/notes/a.pdf")
    assert await world.deliver() == 1

    document = await world.one()
    assert (document.outcome, document.reason, document.attempts) == ("failed", reason.value, 0)
    assert world.model.asked == []
    assert await world.ledger() == []


async def test_a_document_that_is_too_large_is_not_even_read(world: DocumentWorld) -> None:
    world.extractor.set_limits(ExtractionLimits(max_source_bytes=5))
    document = await world.process(NOTE, b"more than five")

    assert (document.outcome, document.reason) == ("failed", "too_large")


async def test_a_document_that_was_deleted_is_gone(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    await world.blobs.delete(f"documents/{NOTE}")
    assert await world.deliver() == 1

    document = await world.one()
    assert (document.outcome, document.reason, document.attempts) == ("failed", "gone", 0)
    result = await world.result(NOTE)
    assert result is not None
    assert result["reason"] == "gone"
    assert world.model.asked == []
    assert world.queue.dead == []


async def test_a_version_that_was_replaced_is_gone_and_leaves_the_place_to_the_newer_one(
    world: DocumentWorld,
) -> None:
    await world.claim(NOTE, b"the first version")
    await world.claim(NOTE, b"second")
    await world.deliver()

    newest, oldest = sorted(await world.all(), key=lambda document: -document.version)
    assert (oldest.reason, newest.outcome) == ("gone", "succeeded")
    result = await world.result(NOTE)
    assert result is not None
    assert (result["document"]["id"], result["output"]) == (newest.id, "answer 6")


async def test_a_late_older_version_never_replaces_a_newer_result(world: DocumentWorld) -> None:
    """The older one is asked about first, and answered last."""
    await world.claim(NOTE, b"the first version")
    (first,) = world.queue.sent
    held, free = asyncio.Event(), asyncio.Event()

    async def wait_once(_: float) -> None:
        if not held.is_set():
            held.set()
            await free.wait()

    world.model.manners.sleep = wait_once
    slow = asyncio.create_task(world.app.process_document(first.body))
    await held.wait()
    await world.claim(NOTE, b"second")
    await world.app.process_document(world.queue.sent[1].body)
    free.set()
    await slow

    newest, oldest = sorted(await world.all(), key=lambda document: -document.version)
    assert (oldest.outcome, newest.outcome) == ("succeeded", "succeeded")
    result = await world.result(NOTE)
    assert result is not None
    assert result["document"]["id"] == newest.id
    assert len(await world.ledger()) == 2


async def test_two_versions_that_end_together_leave_the_newer_result() -> None:
    for turns in range(12):
        world = DocumentWorld()
        await world.claim(NOTE, b"the first version")
        gate, arrived = asyncio.Event(), [asyncio.Event(), asyncio.Event()]

        async def wait(
            _: float, world: DocumentWorld = world, gate: asyncio.Event = gate, arrived: Any = arrived
        ) -> None:
            arrived[len(world.model.asked) - 1].set()
            await gate.wait()

        world.model.manners.sleep = wait
        tasks = [asyncio.create_task(world.app.process_document(world.queue.sent[0].body))]
        await arrived[0].wait()
        await world.claim(NOTE, b"second")
        tasks.append(asyncio.create_task(world.app.process_document(world.queue.sent[1].body)))
        await arrived[1].wait()
        gate.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)

        result = await world.result(NOTE)
        assert result is not None
        assert result["output"] == "answer 6", f"after {turns} turns"


async def test_a_redelivery_while_the_first_delivery_works_costs_nothing(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    [message] = world.queue.sent
    held, free = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        held.set()
        await free.wait()

    world.model.manners.sleep = wait
    first = asyncio.create_task(world.app.process_document(message.body))
    await held.wait()
    await world.app.process_document(message.body)
    await world.app.process_document(message.body)
    assert len(world.model.asked) == 1
    free.set()
    await first

    assert (await world.one()).status is DocumentStatus.COMPLETED
    await world.deliver()
    assert len(world.model.asked) == 1
    assert len(await world.ledger()) == 1


async def test_a_redelivery_after_the_end_changes_nothing(world: DocumentWorld) -> None:
    document = await world.process(NOTE)
    [message] = world.queue.sent
    await world.app.process_document(message.body)

    assert await world.one() == document
    assert len(world.model.asked) == 1
    assert len(world.events.published) == 1


async def test_work_that_outlasts_its_lock_is_done_once(world: DocumentWorld) -> None:
    world.queue = MemoryQueue(world.clock, lock=world.policy.document_lease / 2)
    app = world.app = world.power_up()
    asked, gate = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        asked.set()
        await gate.wait()

    world.model.manners.sleep = wait
    await world.claim(NOTE)
    first = world.queue.receive()
    assert first is not None
    slow = asyncio.create_task(app.process_document(first.message.body))
    await asked.wait()
    world.clock.advance(world.policy.document_lease / 2)
    second = world.queue.receive()
    assert second is not None
    assert second.number == 2
    await app.process_document(second.message.body)
    world.queue.complete(second)
    gate.set()
    await slow
    with pytest.raises(LockLost):
        world.queue.complete(first)
    await world.deliver()

    assert (await world.one()).outcome == "succeeded"
    assert len(world.model.asked) == len(await world.ledger()) == len(world.events.published) == 1
    assert world.queue.dead == []


async def test_a_message_that_no_record_knows_of_costs_a_document_none_of_its_own(
    world: DocumentWorld,
) -> None:
    """A second delivery was put off, and came back while the first still worked; then that one had to wait."""
    asked, gate = asyncio.Event(), asyncio.Event()

    async def wait(_: float) -> None:
        asked.set()
        await gate.wait()

    world.model.manners.sleep = wait
    world.model.manners.faults.extend(TryAgainLater("the gateway is out of order") for _ in range(2))
    await world.claim(NOTE)
    first = world.queue.receive()
    assert first is not None
    slow = asyncio.create_task(world.app.process_document(first.message.body))
    await asked.wait()
    claim = read_claim(first.message.body)
    await world.app.process_document.postpone.unrecorded(claim, Deferred("crowded", retry_after=timedelta(0)))
    ahead = world.queue.receive()
    assert ahead is not None
    await world.app.process_document(ahead.message.body)
    world.queue.complete(ahead)
    gate.set()
    await slow
    world.queue.complete(first)
    assert (await world.one()).status is DocumentStatus.QUEUED

    await world.deliver()

    assert (await world.one()).outcome == "succeeded"


async def test_two_deliveries_at_once_make_one_call(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    [message] = world.queue.sent
    await asyncio.gather(*(world.app.process_document(message.body) for _ in range(5)))

    assert len(world.model.asked) == 1
    assert len(await world.ledger()) == 1


# Faults of infrastructure


async def test_an_outage_of_ten_minutes_dead_letters_nothing(world: DocumentWorld) -> None:
    end = world.clock.now() + timedelta(minutes=10)

    async def break_until_the_end(_: float) -> None:
        if world.clock.now() < end:
            raise TryAgainLater("the gateway answers 503")

    world.model.manners.sleep = break_until_the_end
    for n in range(20):
        await world.claim(f"support/notes/{n}.txt")
    deliveries = await world.deliver()

    documents = await world.all()
    assert {document.status for document in documents} == {DocumentStatus.COMPLETED}
    assert world.queue.dead == []
    assert world.clock.now() < end + timedelta(minutes=6)
    assert deliveries < 20 * 12
    rows = await world.ledger()
    assert len(rows) == 20
    # While nothing works few calls are made to find out, and the others are not counted as attempts.
    assert any(row.attempt > 1 for row in rows)
    assert len(world.model.asked) < deliveries


async def test_a_document_whose_turn_it_is_not_costs_a_message_and_nothing_else(
    world: DocumentWorld,
) -> None:
    await world.claim(NOTE)
    before, alias = await world.one(), world.catalog.catalog.alias("summarize")
    async with AsyncExitStack() as held:
        for _ in range(5):
            await held.enter_async_context(world.app.process_document.run_task.turn(alias, SUPPORT.id))

        await world.deliver(within=timedelta(0))

        assert await world.one() == before
        assert world.model.asked == []
        assert world.queue.next_due() is not None

    await world.deliver()
    document = await world.one()
    assert (document.status, document.attempts) == (DocumentStatus.COMPLETED, 1)


async def test_the_wait_that_is_asked_for_is_kept(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.RATE_LIMITED
    world.model.manners.retry_after = timedelta(minutes=3)
    await world.claim(NOTE)
    await world.deliver(within=timedelta(0))
    document = await world.one()
    assert document.status is DocumentStatus.QUEUED
    assert document.due_at == world.clock.now() + timedelta(minutes=3)

    world.model.manners.fates.clear()
    await world.deliver()
    document = await world.one()
    assert (document.status, document.generation) == (DocumentStatus.COMPLETED, 2)


async def test_a_fault_that_does_not_pass_is_a_result_with_a_finding(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.ERROR
    document = await world.process(NOTE)

    assert (document.status, document.outcome, document.reason) == ("failed", "failed", "infrastructure")
    assert timedelta(hours=6) <= world.clock.now() - document.claimed_at < timedelta(hours=7)
    result = await world.result(NOTE)
    assert result is not None
    assert result["reason"] == "infrastructure"
    [finding] = await world.findings()
    assert finding.kind == "given_up_document"
    assert world.queue.dead == []


async def test_a_queue_that_takes_nothing_leaves_the_document_to_the_sweep(world: DocumentWorld) -> None:
    world.model.manners.faults = deque([TryAgainLater("503")] * 3)
    await world.claim(NOTE)
    world.queue.refuse(1)
    await world.deliver()

    document = await world.one()
    assert (document.status, document.generation) == (DocumentStatus.CLAIMED, 2)
    assert world.queue.dead == []


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[]", b'{"schema":"claim/9"}', b"x" * 5000, b'{"document":1}'],
    ids=["empty", "cut", "binary", "array", "version", "large", "shape"],
)
async def test_a_message_that_is_none_is_parked_with_its_reason(world: DocumentWorld, body: bytes) -> None:
    await world.app.process_document(body)
    await world.app.process_document(body)

    [finding] = await world.findings(None)
    assert finding.kind == "bad_message"


async def test_a_message_about_an_unknown_tenant_is_parked_on_the_first_delivery(
    world: DocumentWorld,
) -> None:
    await world.claim(NOTE)
    [message] = world.queue.sent
    claim = msgspec.json.decode(message.body) | {"tenant": "nobody"}
    await world.queue.send(Message(id="x", body=msgspec.json.encode(claim), correlation_id="x"))
    assert await world.deliver() == 2

    assert [finding.kind for finding in await world.findings(None)] == ["bad_message"]
    assert world.queue.dead == []


# Crashes


async def test_a_crash_of_ours_is_delivered_again_and_in_the_end_dead_lettered(world: DocumentWorld) -> None:
    async def crash(_: float) -> None:
        raise ZeroDivisionError

    world.model.manners.sleep = crash
    await world.claim(NOTE)
    assert await world.deliver() == 5

    assert len(world.queue.dead) == 1
    document = await world.one()
    assert (document.status, document.crashes, document.lease) == (DocumentStatus.PROCESSING, 5, None)


async def test_a_worker_that_dies_is_replaced_when_its_lease_has_run_out(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    delivery = world.queue.receive()
    assert delivery is not None
    with pytest.raises(PowerCut):
        await world.power_up(partial(powered, mains=Mains(cut_before=2))).process_document(
            delivery.message.body
        )
    assert (await world.one()).status is DocumentStatus.PROCESSING

    await world.deliver()
    document = await world.one()
    assert (document.status, document.crashes) == (DocumentStatus.COMPLETED, 1)


async def test_power_may_fail_between_any_two_effects_of_processing() -> None:
    """At most the call in flight is repeated, and the ledger shows it."""
    for number, after in itertools.product(range(1, 40), (False, True)):
        world = DocumentWorld()
        await world.claim(NOTE)
        mains = Mains(cut_after=number) if after else Mains(cut_before=number)
        delivery = world.queue.receive()
        assert delivery is not None
        try:
            await world.power_up(partial(powered, mains=mains)).process_document(delivery.message.body)
        except PowerCut:
            await check_recovery(world)
        else:
            assert number > 8, "there was something to cut"
            return


async def check_recovery(world: DocumentWorld) -> None:
    """What was stored before the cut is not asked for again; everything else happens after it."""
    asked = len(world.model.asked)
    stored = [info.path async for info in world.blobs.list("jobs/")]
    ended = (await world.one()).is_finished
    await world.deliver()

    document = await world.one()
    assert document.outcome == "succeeded"
    result = await world.result(NOTE)
    assert result is not None
    assert (result["document"]["id"], result["attempts"]) == (document.id, document.attempts)
    assert len(world.model.asked) == (asked if stored or ended else asked + 1)
    rows = await world.ledger()
    assert [row.attempt for row in rows] == list(range(1, document.attempts + 1))
    assert len(world.model.asked) <= sum(row.requests for row in rows) == document.attempts
    # The sweep tells what a worker that is gone had no time to tell.
    world.clock.advance(timedelta(minutes=16))
    await world.sweep()
    told = [event.id for event in world.events.published if event.id.startswith("document:")]
    assert set(told) == {f"document:{document.id}:0"}


async def test_an_answer_that_was_stored_is_never_asked_for_again() -> None:
    for number in itertools.count(4):  # lease, intent, question, answer: everything later finds the answer
        world = DocumentWorld()
        await world.claim(NOTE)
        delivery = world.queue.receive()
        assert delivery is not None
        try:
            await world.power_up(partial(powered, mains=Mains(cut_after=number))).process_document(
                delivery.message.body
            )
        except PowerCut:
            await world.deliver()
            assert len(world.model.asked) == 1, f"cut after {number}"
            assert len(await world.ledger()) == 1
            assert (await world.one()).outcome == "succeeded"
        else:
            assert number > 8, "there was something to cut"
            return

"""Looking at documents, retrying and erasing them."""

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from shared.adapters.memory.provider_rows import Fate
from shared.domain.documents import DocumentStatus
from shared.domain.errors import Deferred, NotFound
from shared.domain.ids import TenantId
from shared.domain.outcomes import Outcome
from shared.services.documents.read_documents import DocumentFilter
from shared.wire.claims import read_claim
from shared.wire.problems import Clash, Unusable
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered

NOTE = "support/notes/a.txt"
SUPPORT = TenantId("support")
EVERYTHING = DocumentFilter()


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


async def retry(world: DocumentWorld, *include: Outcome, owner: TenantId | None = SUPPORT) -> None:
    [document] = [d async for d in world.documents.newest_first(owner)]
    await world.app.retry_document(await world.documents.load(owner, document.id), frozenset(include))


async def erase(world: DocumentWorld) -> None:
    document = await world.one()
    await world.app.erase_document(await world.documents.load(SUPPORT, document.id))


# Lists


async def test_documents_are_listed_newest_first_page_by_page_over_all_owners(world: DocumentWorld) -> None:
    for n in range(10):
        await world.claim(f"{('support', 'retail', 'nobody')[n % 3]}/notes/{n}.txt")
        world.clock.advance(timedelta(seconds=2))
    read, owners = world.app.read_documents, [SUPPORT, TenantId("retail"), None]
    names: list[str] = []
    after, more = None, True
    while more:
        found, more = await read.page(owners, EVERYTHING, limit=3, after=after)
        names += [document.name for document in found]
        after = found[-1].id

    assert names == [f"{n}.txt" for n in reversed(range(10))]


async def test_a_list_may_be_narrowed(world: DocumentWorld) -> None:
    await world.claim("support/notes/a.txt")
    await world.claim("support/tickets/b.txt")
    await world.claim("support/notes/c.txt", b"")
    read = world.app.read_documents

    by_status, _ = await read.page([SUPPORT], DocumentFilter(status="failed"), limit=9, after=None)
    by_pipeline, _ = await read.page([SUPPORT], DocumentFilter(pipeline="tickets"), limit=9, after=None)
    assert [document.name for document in by_status] == ["c.txt"]
    assert [document.name for document in by_pipeline] == ["b.txt"]


@pytest.mark.parametrize("name", ["", "doc_", "doc_zz", "job_1", "a/b#?", "x" * 5000])
async def test_what_is_no_id_is_not_there(world: DocumentWorld, name: str) -> None:
    with pytest.raises(NotFound):
        await world.app.read_documents.one([SUPPORT, None], name)


async def test_nobody_finds_another_tenant_s_document(world: DocumentWorld) -> None:
    document = await world.process(NOTE)
    with pytest.raises(NotFound):
        await world.app.read_documents.one([TenantId("retail")], document.id)


# Retry


async def test_a_fault_that_outlived_its_attempts_may_be_retried(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.ERROR
    first = await world.process(NOTE)
    assert first.reason == "infrastructure"
    world.model.manners.fates.clear()
    world.clock.advance(timedelta(minutes=5))

    await retry(world)
    assert (await world.one()).status is DocumentStatus.QUEUED
    await world.deliver()
    document = await world.one()
    assert (document.outcome, document.retries) == ("succeeded", 1)
    result = await world.result(NOTE)
    assert result is not None
    assert result["outcome"] == "succeeded"
    ids = [event.id for event in world.events.published if event.type.startswith("postern.document")]
    assert len(set(ids)) == 2


async def test_a_final_outcome_is_bought_again_only_by_name(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.REFUSAL
    await world.process(NOTE)
    with pytest.raises(Unusable, match="name it in include"):
        await retry(world)
    with pytest.raises(Unusable, match="name it in include"):
        await retry(world, Outcome.TRUNCATED)

    world.model.manners.fates.clear()
    await retry(world, Outcome.REFUSED)
    await world.deliver()
    assert (await world.one()).outcome == "succeeded"
    assert [row.attempt for row in sorted(await world.ledger(), key=lambda row: row.attempt)] == [1, 2]


async def test_a_stray_message_about_a_finished_document_does_not_swallow_its_retry(
    world: DocumentWorld,
) -> None:
    """A repeat of its message was put off unread, as the tenant had too much under way."""
    world.model.manners.fates["Some text"] = Fate.CONTENT_FILTER
    await world.process(NOTE)
    claim = read_claim(world.queue.sent[0].body)
    await world.app.process_document.postpone.unrecorded(claim, Deferred("crowded", retry_after=timedelta(0)))
    await world.deliver()

    world.model.manners.fates.clear()
    await retry(world, Outcome.REFUSED)
    await world.deliver()

    assert (await world.one()).outcome == "succeeded"


async def test_an_end_that_nobody_was_told_of_is_told_before_a_retry(world: DocumentWorld) -> None:
    world.model.manners.fates["Some text"] = Fate.CONTENT_FILTER
    await world.claim(NOTE)
    delivery = world.queue.receive()
    assert delivery is not None
    with suppress(PowerCut):
        # Lease, intent, question, answer, ledger, the version's standing, result, record.
        app = world.power_up(partial(powered, mains=Mains(cut_after=8)))
        await app.process_document(delivery.message.body)
    assert (await world.one()).is_finished
    assert world.events.published == []

    world.model.manners.fates.clear()
    await retry(world, Outcome.REFUSED)
    await world.deliver()

    name = (await world.one()).id
    assert [event.id for event in world.events.published] == [f"document:{name}:0", f"document:{name}:1"]
    assert world.events.published[0].type == "postern.document.failed"


async def test_an_event_that_cannot_be_published_is_kept(world: DocumentWorld) -> None:
    world.events.refuse(1)
    document = await world.process(NOTE)
    assert world.events.published == []

    await world.sweep()

    assert [event.id for event in world.events.published] == [f"document:{document.id}:0"]


async def test_a_success_is_not_bought_again(world: DocumentWorld) -> None:
    await world.process(NOTE)
    with pytest.raises(Unusable, match="has succeeded"):
        await retry(world, Outcome.REFUSED, Outcome.FAILED)


async def test_what_is_under_way_is_not_retried(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    with pytest.raises(Clash, match="is queued"):
        await retry(world)


async def test_what_cost_nothing_may_be_tried_again_once_somebody_has_mended_it(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    await world.blobs.delete(f"documents/{NOTE}")
    await world.deliver()
    assert (await world.one()).reason == "gone"

    await retry(world)
    await world.deliver()
    assert ((await world.one()).reason, len(world.model.asked)) == ("gone", 0)


async def test_a_document_of_nobody_goes_to_its_tenant_when_there_is_one(world: DocumentWorld) -> None:
    catalog = world.catalog.catalog
    world.catalog.catalog = type(catalog)(
        tenants={}, deployments=catalog.deployments, aliases=catalog.aliases, pipelines=catalog.pipelines
    )
    await world.claim(NOTE)
    assert (await world.one(None)).reason == "unknown_tenant"
    with pytest.raises(Unusable, match="there is no tenant"):
        await retry(world, owner=None)

    world.catalog.catalog = catalog
    await retry(world, owner=None)
    await world.deliver()
    assert await world.all(None) == []
    assert (await world.one()).outcome == "succeeded"


async def test_an_empty_file_cannot_be_retried(world: DocumentWorld) -> None:
    await world.claim(NOTE, b"")
    with pytest.raises(Unusable, match="no bytes"):
        await retry(world)


# Erase


async def test_erasing_takes_the_content_and_leaves_the_record(world: DocumentWorld) -> None:
    before = await world.process(NOTE)
    await erase(world)

    after = await world.one()
    assert after.erased_at == world.clock.now()
    assert (after.outcome, after.usage) == (before.outcome, before.usage)
    assert [info.path async for info in world.blobs.list("documents/")] == []
    assert [info.path async for info in world.blobs.list("results/")] == []
    assert len(await world.ledger()) == 1
    await erase(world)
    with pytest.raises(NotFound, match="erased"):
        await retry(world, Outcome.FAILED)


async def test_erasing_an_older_version_leaves_the_newer_one_alone(world: DocumentWorld) -> None:
    await world.process(NOTE, b"the first")
    await world.claim(NOTE, b"second")
    await world.deliver()
    newest, oldest = sorted(await world.all(), key=lambda document: -document.version)
    await world.app.erase_document(await world.documents.load(SUPPORT, oldest.id))

    assert await world.blobs.head(f"documents/{NOTE}") is not None
    result = await world.result(NOTE)
    assert result is not None
    assert result["document"]["id"] == newest.id


async def test_what_is_under_way_is_not_erased(world: DocumentWorld) -> None:
    await world.claim(NOTE)
    with pytest.raises(Clash, match="is queued"):
        await erase(world)

"""What becomes of an event about a blob, before anybody looks inside."""

import asyncio
import itertools
from datetime import timedelta
from functools import partial

import msgspec
import pytest

from shared.domain.documents import DocumentStatus
from shared.domain.outcomes import Outcome
from shared.services.documents.claim_document import Claimed
from tests.support.dropping import DocumentWorld
from tests.support.power import Mains, PowerCut, powered


@pytest.fixture
def world() -> DocumentWorld:
    return DocumentWorld()


async def test_a_drop_becomes_a_record_and_one_small_message(world: DocumentWorld) -> None:
    assert await world.claim("support/notes/a b.txt", b"Text.", project="red", run_id="r1") is Claimed.NEW

    document = await world.one()
    assert document.status is DocumentStatus.QUEUED
    assert (document.path, document.bytes, document.content_type) == (
        "support/notes/a b.txt",
        5,
        "text/plain",
    )
    assert document.tags == {"project": "red", "run_id": "r1"}
    assert document.run_id == "r1"
    [message] = world.queue.sent
    assert message.id == document.message_id
    assert msgspec.json.decode(message.body) == {
        "schema": "claim/1",
        "document": document.id,
        "tenant": "support",
        "pipeline": "notes",
        "path": "support/notes/a b.txt",
        "etag": document.etag,
        "alias": "summarize",
        "generation": 1,
        "correlation_id": document.id,
    }
    assert world.model.asked == []


async def test_repeats_of_an_event_change_nothing_and_send_nothing(world: DocumentWorld) -> None:
    place = await world.drop("support/notes/a.txt")
    first = await asyncio.gather(*(world.app.claim_document(place) for _ in range(3)))
    seen = await world.one()
    world.clock.advance(timedelta(seconds=55))
    assert await world.app.claim_document(place) is Claimed.KNOWN

    assert sorted(first) == ["known", "known", "new"]
    assert await world.one() == seen
    assert len(world.queue.sent) == 1


async def test_an_event_about_a_version_that_was_replaced_claims_what_lies_there_now(
    world: DocumentWorld,
) -> None:
    await world.drop("support/notes/a.txt", b"old")
    place = await world.drop("support/notes/a.txt", b"new text")
    await world.app.claim_document(place)
    await world.app.claim_document(place)

    document = await world.one()
    assert document.bytes == 8
    assert len(world.queue.sent) == 1


async def test_every_version_gets_its_own_record_in_order(world: DocumentWorld) -> None:
    for text in (b"one", b"second", b"the third"):
        await world.claim("support/notes/a.txt", text)

    documents = {document.version: document.bytes for document in await world.all()}
    assert documents == {1: 3, 2: 6, 3: 9}
    assert len({message.id for message in world.queue.sent}) == 3


@pytest.mark.parametrize(
    "name",
    [
        "COAG+ 1 [a] 100%20.pdf",
        "Ünï/ço.pdf",
        "a#b?c.txt",
        "deep/" * 40 + "leaf.txt",
        "日本語/😀.txt",
        "a//b.txt",
        "quo\"te'.txt",
        "x" * 1000,
        "字" * 1000,
    ],
    ids=lambda name: repr(name[:20]),
)
async def test_any_name_is_claimed_as_it_is(world: DocumentWorld, name: str) -> None:
    await world.claim(f"support/notes/{name}")

    assert (await world.one()).path == f"support/notes/{name}"
    [message] = world.queue.sent
    assert len(message.body) < 4096


@pytest.mark.parametrize(
    "place", ["inputs/support/a.txt", "documents-old/support/notes/a.txt", "results/a.json"]
)
async def test_events_of_other_containers_are_none_of_ours(world: DocumentWorld, place: str) -> None:
    assert await world.app.claim_document(place) is Claimed.FOREIGN
    assert await world.all() == []


async def test_what_is_gone_before_the_look_was_never_there(world: DocumentWorld) -> None:
    assert await world.app.claim_document("documents/support/notes/a.txt") is Claimed.GONE
    assert await world.all() == []


@pytest.mark.parametrize(
    ("path", "metadata"),
    [
        ("support/notes/folder", {"hdi_isfolder": "true"}),
        ("support/notes/folder", {"Hdi_IsFolder": "True"}),
        ("support/notes/folder/", {}),
        ("support/notes/folder_$folder$", {}),
    ],
)
async def test_markers_of_folders_are_ignored(
    world: DocumentWorld, path: str, metadata: dict[str, str]
) -> None:
    place = await world.drop(path, b"", metadata=metadata)
    assert await world.app.claim_document(place) is Claimed.FOLDER
    assert await world.all() == []


async def test_an_empty_file_is_told_so_once_and_its_later_content_is_processed(world: DocumentWorld) -> None:
    await world.claim("support/notes/a.txt", b"")
    await world.app.claim_document("documents/support/notes/a.txt")
    [empty] = await world.all()
    assert (empty.status, empty.reason) == (DocumentStatus.FAILED, "empty")
    result = await world.result("support/notes/a.txt")
    assert result is not None
    assert (result["outcome"], result["reason"], result["attempts"]) == ("failed", "empty", 0)
    assert world.queue.sent == []

    world.clock.advance(timedelta(seconds=2))
    await world.claim("support/notes/a.txt", b"Now there is text.")
    await world.deliver()
    result = await world.result("support/notes/a.txt")
    assert result is not None
    assert result["outcome"] == "succeeded"
    assert len(world.events.published) == 2


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nobody/notes/a.txt", "unknown_tenant"),
        ("a.txt", "unknown_tenant"),
        ("support/nothing/a.txt", "unknown_pipeline"),
        ("support/a.txt", "unknown_pipeline"),
        ("Support/notes/a.txt", "unknown_tenant"),
    ],
)
async def test_a_drop_to_nowhere_has_a_result_and_a_record_for_operators_only(
    world: DocumentWorld, path: str, reason: str
) -> None:
    await world.claim(path)

    document = await world.one(None)
    assert (document.status, document.outcome, document.reason) == ("failed", "failed", reason)
    assert await world.all("support") == []
    result = await world.result(path)
    assert result is not None
    assert result["reason"] == reason
    assert result["cost"] == {"amount": "0", "currency": "USD"}
    assert world.queue.sent == []
    told = [event for event in world.events.published if event.type == "postern.document.failed"]
    assert [event.subject for event in told] == [f"operators/documents/{document.id}"]
    [finding] = await world.findings(None)
    assert finding.kind == "unknown_destination"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("a.txt", "the file lies beside the tenants' folders; drop it to TENANT/PIPELINE/"),
        ("support/a.txt", "the file lies beside the pipelines' folders; drop it to support/PIPELINE/; known"),
        ("nobody/notes/a.txt", "there is no tenant 'nobody'"),
        ("support/nothing/a.txt", "there is no pipeline 'nothing'"),
    ],
)
async def test_a_drop_to_nowhere_is_told_where_it_belongs(
    world: DocumentWorld, path: str, message: str
) -> None:
    await world.claim(path)

    result = await world.result(path)
    assert result is not None
    assert result["message"].startswith(message)


@pytest.mark.parametrize(
    ("path", "metadata", "part"),
    [
        ("support/notes/a.txt", {"alias": "nothing"}, "unknown alias 'nothing'"),
        ("support/notes/a.txt", {"alias": "nightly"}, "no deployment in the minutes lane"),
        ("support/notes/a\nb.txt", {}, "control characters"),
        ("support/notes/" + "x" * 1008, {}, "1,019 characters"),
        ("strict/notes/a.txt", {}, "metadata project"),
    ],
)
async def test_a_drop_that_cannot_be_used_says_why(
    world: DocumentWorld, path: str, metadata: dict[str, str], part: str
) -> None:
    await world.app.claim_document(await world.drop(path, metadata=metadata))

    document = await world.one(path.split("/")[0])
    assert (document.outcome, document.reason) == (Outcome.FAILED, "invalid_request")
    assert part in (document.message or "")
    assert world.queue.sent == []


async def test_metadata_may_choose_the_alias_and_carry_required_tags(world: DocumentWorld) -> None:
    await world.claim("strict/notes/a.txt", Alias="careful", Project="red")

    document = await world.one("strict")
    assert document.alias == "careful"
    assert document.tags == {"project": "red"}
    assert document.status is DocumentStatus.QUEUED


async def test_what_gathers_waits_without_a_message(world: DocumentWorld) -> None:
    await world.claim("support/tickets/a.txt")

    assert (await world.one()).status is DocumentStatus.GATHERED
    assert world.queue.sent == []


async def test_a_claim_that_could_not_be_sent_is_sent_by_the_next_event(world: DocumentWorld) -> None:
    world.queue.refuse(1)
    with pytest.raises(Exception, match="was not taken"):
        await world.claim("support/notes/a.txt")
    assert (await world.one()).status is DocumentStatus.CLAIMED

    await world.app.claim_document("documents/support/notes/a.txt")
    assert (await world.one()).status is DocumentStatus.QUEUED
    assert len(world.queue.sent) == 1


@pytest.mark.parametrize("content", [b"Some text.", b""], ids=["queued", "decided"])
async def test_power_may_fail_between_any_two_effects_of_a_claim(content: bytes) -> None:
    for number, after in itertools.product(range(1, 30), (False, True)):
        world = DocumentWorld()
        mains = Mains(cut_after=number) if after else Mains(cut_before=number)
        place = await world.drop("support/notes/a.txt", content)
        try:
            await world.power_up(partial(powered, mains=mains)).claim_document(place)
        except PowerCut:
            pass
        else:
            assert number > 3, "there was something to cut"
            return
        await world.app.claim_document(place)
        await world.deliver()
        document = await world.one()
        assert document.is_finished
        assert await world.result("support/notes/a.txt") is not None
        assert len(world.model.asked) == (1 if content else 0)
        assert len(world.queue.sent) == (1 if content else 0)

"""The feed as a process, between a real Azurite and a webhook."""

import asyncio
import re
import signal
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import pytest
from azure.storage.blob import BlobBlock
from azure.storage.blob import ContainerClient as SyncContainerClient
from azure.storage.blob.aio import ContainerClient

from tests.local.change_feed.feed_process import FeedProcess, Webhook
from tests.local.host.observations import until
from tests.support.azurite import Azurite

pytestmark = [pytest.mark.stack, pytest.mark.azurite]

AWKWARD_NAMES = ["a b.txt", "x+y%20.txt", "#[1]?&.txt", "über/日本.txt", "deep/" * 20 + "end.txt"]


class Scene:
    def __init__(self, feed: FeedProcess, webhook: Webhook, documents: ContainerClient) -> None:
        self.feed = feed
        self.webhook = webhook
        self.documents = documents

    async def drop(self, *names: str, content: bytes = b"content") -> None:
        for name in names:
            await self.documents.upload_blob(name, content, overwrite=True)

    async def arrived(self, count: int) -> list[str]:
        await until(lambda: len(self.webhook.events) >= count, f"{count} events arrived", seconds=60)
        return self.webhook.names()


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory, azurite: Azurite) -> Iterator[FeedProcess]:
    container = f"feed-{uuid.uuid4().hex[:8]}"
    with SyncContainerClient.from_connection_string(azurite.connection_string, container) as documents:
        documents.create_container()
    feed = FeedProcess(tmp_path_factory.mktemp("feed"), azurite=azurite, container=container)
    feed.start()
    try:
        yield feed
    finally:
        feed.end()


@pytest.fixture
async def scene(feed: FeedProcess, azurite: Azurite) -> AsyncIterator[Scene]:
    """The one feed with its knobs off, and a webhook that has seen nothing yet."""
    webhook = Webhook(feed.webhook_port)
    await webhook.open()
    await feed.turn()
    try:
        async with ContainerClient.from_connection_string(
            azurite.connection_string, feed.container
        ) as documents:
            yield Scene(feed, webhook, documents)
            await until_idle(feed)
    finally:
        await webhook.close()


async def test_an_event_says_what_event_grid_says(scene: Scene, azurite: Azurite) -> None:
    answer = await scene.documents.upload_blob("support/notes/a b.txt", b"12345")
    etag = str((await answer.get_blob_properties()).etag)

    await scene.arrived(1)

    (event,) = scene.webhook.events
    container = scene.documents.container_name
    assert event["eventType"] == "Microsoft.Storage.BlobCreated"
    assert event["subject"] == f"/blobServices/default/containers/{container}/blobs/support/notes/a b.txt"
    data = event["data"]
    assert data["api"] == "PutBlob"
    assert data["url"] == f"{azurite.blob_url}/{container}/support/notes/a%20b.txt"
    assert (data["eTag"], data["contentLength"]) == (etag.strip('"'), 5)
    assert (data["contentType"], data["blobType"]) == ("application/octet-stream", "BlockBlob")
    assert re.fullmatch("[0-9A-F]{32}", data["sequencer"])


async def test_every_way_of_writing_and_every_name_gives_one_event(scene: Scene) -> None:
    await scene.drop(*AWKWARD_NAMES)
    blocks = scene.documents.get_blob_client("blocks.txt")
    await blocks.stage_block("MQ==", b"abc")
    await blocks.commit_block_list([BlobBlock("MQ==")])
    await scene.documents.get_blob_client("copy.txt").start_copy_from_url(blocks.url)
    await scene.documents.delete_blob("copy.txt")
    await scene.drop("last.txt")

    await scene.arrived(len(AWKWARD_NAMES) + 3)

    assert Counter(scene.webhook.names()) == Counter([*AWKWARD_NAMES, "blocks.txt", "copy.txt", "last.txt"])
    ordered = sorted(scene.webhook.events, key=lambda event: event["data"]["sequencer"])
    assert [event["data"]["api"] for event in ordered[-3:]] == ["PutBlockList", "CopyBlob", "PutBlob"]


async def test_events_wait_for_a_webhook_that_is_down_or_broken(scene: Scene) -> None:
    scene.webhook.status = 503
    await scene.drop("one.txt")
    await until(lambda: scene.webhook.refused >= 2, "the webhook has refused twice")
    await scene.webhook.close()
    await scene.drop("two.txt")
    scene.webhook.status = 202

    await scene.webhook.open()

    assert sorted(await scene.arrived(2)) == ["one.txt", "two.txt"]


async def test_an_event_that_is_refused_for_good_is_not_sent_again(scene: Scene) -> None:
    scene.webhook.status = 404
    await scene.drop("unwanted.txt")
    await until(lambda: scene.webhook.refused >= 1, "the webhook has refused")
    scene.webhook.status = 202

    await scene.drop("wanted.txt")

    assert await scene.arrived(1) == ["wanted.txt"]
    assert scene.webhook.refused == 1


async def test_what_was_on_its_way_or_happened_meanwhile_is_told_after_a_restart(scene: Scene) -> None:
    await scene.feed.turn(delay_seconds=60)
    await scene.drop("on its way.txt")
    await seen_by_the_feed(scene)
    assert scene.feed.end() == 0
    await scene.drop("meanwhile.txt")

    await asyncio.to_thread(scene.feed.start)

    assert sorted(await scene.arrived(2)) == ["meanwhile.txt", "on its way.txt"]


async def test_a_feed_that_was_killed_repeats_at_most_what_it_said_with_the_same_ids(scene: Scene) -> None:
    await scene.drop("before.txt")
    await scene.arrived(1)
    first_id = scene.webhook.events[0]["id"]
    scene.feed.end(signal.SIGKILL)
    await scene.drop("last.txt")

    await asyncio.to_thread(scene.feed.start)

    await until(lambda: "last.txt" in scene.webhook.names(), "the last one arrived", seconds=60)
    assert {event["id"] for event in scene.webhook.events if "before" in event["subject"]} == {first_id}


async def test_duplicates_and_jitter_change_number_and_order(scene: Scene) -> None:
    assert await scene.feed.turn(duplicates=2, jitter_seconds=1.0, seed=1) == 200
    names = [f"{number:02d}.txt" for number in range(10)]

    await scene.drop(*names)

    arrived = await scene.arrived(30)
    assert Counter(arrived) == Counter(names * 3)
    assert arrived != sorted(arrived)


async def test_delay_holds_every_event_back(scene: Scene) -> None:
    await scene.feed.turn(delay_seconds=0.7)
    began = asyncio.get_running_loop().time()

    await scene.drop("late.txt")
    await scene.arrived(1)

    assert asyncio.get_running_loop().time() - began >= 0.7


async def test_loss_takes_the_same_events_for_the_same_seed(scene: Scene) -> None:
    names = [f"{number:02d}.txt" for number in range(20)]
    for _ in range(2):
        before = (await scene.feed.counts())["seen"]
        await scene.feed.turn(loss=0.5, seed=4)
        await scene.drop(*names)
        await settled(scene, before + 20)

    arrived = Counter(scene.webhook.names())
    assert 0 < len(arrived) < 20
    assert set(arrived.values()) == {2}


async def test_nonsense_is_no_knob(scene: Scene) -> None:
    assert await scene.feed.turn(loss=2) == 400
    assert await scene.feed.turn(louder=1) == 400


async def seen_by_the_feed(scene: Scene) -> None:
    async with asyncio.timeout(60):
        while (await scene.feed.counts())["in_flight"] == 0:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)


async def settled(scene: Scene, seen: int) -> None:
    async with asyncio.timeout(60):
        while (await scene.feed.counts())["seen"] < seen:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)
    await until_idle(scene.feed)


async def until_idle(feed: FeedProcess) -> None:
    """Nothing that this test caused may reach the webhook of the next."""
    async with asyncio.timeout(60):
        while (await feed.counts())["in_flight"]:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.02)

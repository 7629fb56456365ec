"""Storage events, as Event Grid writes them, to paths."""

from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from shared.wire.storage_events import BadEvent, read_created
from tests.support.dropping import DocumentWorld

NAMES = [
    "support/notes/a.txt",
    "support/notes/COAG+ 1 [a] 100%20.pdf",
    "support/notes/Ünï/ço.pdf",
    "support/notes/a#b?c=d&e.pdf",
    "support/notes/100%.txt",
    "support/notes/日本語/😀.txt",
    "support/notes/documents/a.txt",
]


def a_grid_event(
    name: str, *, host: str = "https://acme.blob.core.windows.net", **data: Any
) -> dict[str, Any]:
    return {
        "id": "1",
        "topic": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/acme",
        "subject": f"/blobServices/default/containers/documents/blobs/{name}",
        "eventType": "Microsoft.Storage.BlobCreated",
        "eventTime": "2026-11-30T08:00:00Z",
        "dataVersion": "",
        "metadataVersion": "1",
        "data": {"api": "PutBlob", "url": f"{host}/documents/{quote(name)}", "contentLength": 3, **data},
    }


def a_cloud_event(name: str) -> dict[str, Any]:
    grid = a_grid_event(name)
    kept = {key: grid[key] for key in ("id", "subject", "data")}
    return {**kept, "specversion": "1.0", "source": grid["topic"], "type": grid["eventType"]}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("make", [a_grid_event, a_cloud_event])
def test_the_name_is_decoded_once(make: Any, name: str) -> None:
    assert read_created(msgspec.json.encode(make(name))) == [f"documents/{name}"]
    assert read_created(msgspec.json.encode([make(name)])) == [f"documents/{name}"]


@pytest.mark.parametrize("name", NAMES)
def test_an_address_with_the_account_before_the_container_is_understood(name: str) -> None:
    event = a_grid_event(name, host="http://127.0.0.1:10000/devstoreaccount1")
    assert read_created(msgspec.json.encode(event)) == [f"documents/{name}"]


@pytest.mark.parametrize("api", ["PutBlob", "PutBlockList", "CopyBlob", "FlushWithClose"])
def test_whatever_commits_content_counts(api: str) -> None:
    assert read_created(msgspec.json.encode(a_grid_event("a/b/c", api=api))) == ["documents/a/b/c"]


def test_a_file_that_was_only_opened_and_other_events_do_not_count() -> None:
    opened = a_grid_event("a/b/c", api="CreateFile", contentLength=0)
    deleted = {**a_grid_event("a/b/c"), "eventType": "Microsoft.Storage.BlobDeleted"}
    assert read_created(msgspec.json.encode([opened, deleted])) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff",
        b"1",
        b"[1]",
        b"{}",
        b'{"eventType":1}',
        b'{"eventType":"Microsoft.Storage.BlobCreated"}',
    ],
)
def test_what_is_no_event_is_refused(body: bytes) -> None:
    with pytest.raises(BadEvent, match="the message"):
        read_created(body)


async def test_events_on_the_queue_make_the_same_claims() -> None:
    world = DocumentWorld()
    for name in NAMES:
        await world.drop(name)
    for name in NAMES * 3:
        await world.app.take_storage_events(msgspec.json.encode(a_grid_event(name)), world.engine)

    assert sorted(document.path for document in await world.all()) == sorted(NAMES)
    assert len(world.queue.sent) == len(NAMES)


async def test_a_bad_message_is_dropped_with_a_finding() -> None:
    world = DocumentWorld()
    await world.app.take_storage_events(b"nonsense", world.engine)

    assert [finding.kind for finding in await world.findings(None)] == ["bad_message"]


async def test_several_events_of_one_upload_make_one_record_and_one_message() -> None:
    """As clients write: the file is opened with no bytes, then its blocks come, then it is closed."""
    world = DocumentWorld()
    await world.drop("support/notes/a.txt", b"All of it.")
    events = [
        a_grid_event("support/notes/a.txt", api=api, contentLength=length, eTag=etag)
        for api, length, etag in (
            ("CreateFile", 0, "0x1"),
            ("PutBlob", 0, "0x2"),
            ("PutBlockList", 10, "0x3"),
            ("FlushWithClose", 10, "0x4"),
        )
    ]
    for event in events:
        await world.app.take_storage_events(msgspec.json.encode(event), world.engine)

    assert (await world.one()).bytes == 10
    assert len(world.queue.sent) == 1

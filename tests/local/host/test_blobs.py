"""Blob functions on the local host: from Event Grid's post to the call."""

import json
import sqlite3

import pytest

from tests.local.host.observations import until
from tests.local.host.trigger_stage import TriggerStage

pytestmark = [pytest.mark.stack, pytest.mark.azurite]

AWKWARD_NAMES = [
    "a b/c.txt",
    "plus+and%20.txt",
    "#[1]?&=;.txt",
    "über/straße/日本.txt",
    "deep/" * 20 + "end.txt",
    "two//slashes.txt",
    "uni\u2028line\u0085.txt",
]


def poison(stage: TriggerStage) -> list[tuple[str, int]]:
    with sqlite3.connect(f"file:{stage.host.data}/blobs.db?mode=ro", uri=True) as database:
        rows = database.execute("SELECT blob, tries FROM poison").fetchall()
    database.close()
    return rows


def test_event_grid_gets_its_code_back(stage: TriggerStage) -> None:
    handshake = {
        "id": "1",
        "eventType": "Microsoft.EventGrid.SubscriptionValidationEvent",
        "data": {"validationCode": "512d38b6"},
    }

    status, body = stage.post("claim_document", [handshake])

    assert (status, json.loads(body)) == (200, {"validationResponse": "512d38b6"})


def test_an_unknown_function_is_not_found(stage: TriggerStage) -> None:
    assert stage.tell("nobody", "documents", "a.txt") == 404


@pytest.mark.parametrize("content", [{"no": "list"}, [{"eventType": 1}], [{"eventType": "x"}], "text"])
def test_what_is_no_event_is_refused(stage: TriggerStage, content: object) -> None:
    assert stage.post("claim_document", content)[0] == 400


def test_an_event_whose_url_names_no_blob_is_refused(stage: TriggerStage) -> None:
    event = stage.event("documents")

    assert stage.post("claim_document", [event])[0] == 400


@pytest.mark.parametrize("name", AWKWARD_NAMES)
async def test_a_function_with_a_client_gets_the_name_as_the_caller_wrote_it(
    stage: TriggerStage, name: str
) -> None:
    stage.drop("documents", name)

    assert stage.tell("claim_document", "documents", name) == 202

    (entry,) = await stage.seen.after(1, "claim_document", name=name)
    assert entry["container"] == "documents"


async def test_a_function_with_a_stream_gets_content_and_properties(stage: TriggerStage) -> None:
    stage.drop("texts", "inbox/a.b.txt", "Größe".encode(), project="tickets")

    stage.tell("read", "texts", "inbox/a.b.txt")

    (entry,) = await stage.seen.after(1, "read", name="texts/inbox/a.b.txt")
    assert (entry["content"], entry["length"]) == ("Größe", 7)
    assert entry["metadata"] == {"project": "tickets"}
    assert entry["type"] == "application/octet-stream"
    assert entry["uri"].endswith("/texts/inbox/a.b.txt")


async def test_what_does_not_fit_the_path_is_left_out(stage: TriggerStage) -> None:
    for name in ("no-folder.txt", "inbox/no-extension", "inbox/fits.txt"):
        stage.drop("texts", name)
    deletion = {**stage.event("texts/inbox/fits.txt"), "eventType": "Microsoft.Storage.BlobDeleted"}

    status, _ = stage.post(
        "read",
        [
            deletion,
            *(stage.event(f"texts/{n}") for n in ("no-folder.txt", "inbox/no-extension", "inbox/fits.txt")),
        ],
    )

    assert status == 202
    await stage.seen.after(1, "read", name="texts/inbox/fits.txt")
    await nothing_is_pending(stage)
    assert len(stage.seen.of("read", name="texts/inbox/fits.txt")) == 1
    assert not stage.seen.of("read", name="texts/no-folder.txt")


async def test_a_blob_that_is_gone_is_dropped(stage: TriggerStage) -> None:
    stage.tell("claim_document", "documents", "never-was.txt")

    await nothing_is_pending(stage)
    assert not stage.seen.of("claim_document", name="never-was.txt")


async def test_a_function_that_stumbles_is_tried_again(stage: TriggerStage) -> None:
    stage.drop("documents", "stumbles.txt")

    stage.tell("claim_document", "documents", "stumbles.txt")

    await stage.seen.after(3, "claim_document", name="stumbles.txt")
    await nothing_is_pending(stage)
    assert not [blob for blob, _ in poison(stage) if blob == "stumbles.txt"]


async def test_after_five_tries_an_event_is_poison(stage: TriggerStage) -> None:
    stage.drop("documents", "fails.txt")

    stage.tell("claim_document", "documents", "fails.txt")

    await until(lambda: ("fails.txt", 5) in poison(stage), "fails.txt is poison")
    assert len(stage.seen.of("claim_document", name="fails.txt")) == 5
    assert "blob.poison documents/fails.txt" in stage.host.errors


def test_what_the_host_cannot_serve_is_skipped_with_its_reason(stage: TriggerStage) -> None:
    skipped = stage.host.wait_until_ready()["skipped"]

    assert "source=EVENT_GRID" in skipped["scanned"]
    assert "not from topics" in skipped["on_topic"]


async def nothing_is_pending(stage: TriggerStage) -> None:
    def empty() -> bool:
        with sqlite3.connect(f"file:{stage.host.data}/blobs.db?mode=ro", uri=True) as database:
            (count,) = database.execute("SELECT count(*) FROM pending").fetchone()
        database.close()
        return bool(count == 0)

    await until(empty, "the queue of events is empty")

"""The states of a document, over the full product of states and events."""

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.documents import (
    MOVES,
    Document,
    DocumentEvent,
    DocumentLease,
    DocumentStatus,
    Rescue,
    Turn,
    rescue_of,
    turn_of,
)
from shared.domain.errors import IllegalMove
from shared.domain.ids import DocumentId, TenantId

s, e = DocumentStatus, DocumentEvent
NOW = datetime(2026, 11, 30, 8, tzinfo=UTC)
STUCK = timedelta(minutes=15)
DOCUMENT = Document(
    id=DocumentId("doc_1"),
    tenant=TenantId("support"),
    pipeline="notes",
    path="support/notes/a.txt",
    etag="0x1",
    bytes=1,
    content_type=None,
    modified_at=NOW,
    claimed_at=NOW,
)
EXPECTED = {
    (s.CLAIMED, e.QUEUE): s.QUEUED,
    (s.CLAIMED, e.GATHER): s.GATHERED,
    (s.CLAIMED, e.BEGIN): s.PROCESSING,
    (s.CLAIMED, e.FINISH): s.COMPLETED,
    (s.CLAIMED, e.FAIL): s.FAILED,
    (s.QUEUED, e.QUEUE): s.QUEUED,
    (s.QUEUED, e.BEGIN): s.PROCESSING,
    (s.GATHERED, e.GATHER): s.GATHERED,
    (s.GATHERED, e.FINISH): s.COMPLETED,
    (s.GATHERED, e.FAIL): s.FAILED,
    (s.PROCESSING, e.BEGIN): s.PROCESSING,
    (s.PROCESSING, e.DEFER): s.QUEUED,
    (s.PROCESSING, e.HOLD): s.CLAIMED,
    (s.PROCESSING, e.FINISH): s.COMPLETED,
    (s.PROCESSING, e.FAIL): s.FAILED,
    (s.COMPLETED, e.RETRY): s.CLAIMED,
    (s.FAILED, e.RETRY): s.CLAIMED,
}


@pytest.mark.parametrize(("status", "event"), list(itertools.product(DocumentStatus, DocumentEvent)), ids=str)
def test_every_event_in_every_state(status: DocumentStatus, event: DocumentEvent) -> None:
    document = replace(DOCUMENT, status=status)
    if (status, event) in EXPECTED:
        assert document.after(event).status is EXPECTED[status, event]
        return
    with pytest.raises(IllegalMove, match=r"doc_1.*not allowed"):
        document.after(event)


def test_the_table_has_nothing_else() -> None:
    assert dict(MOVES) == EXPECTED


@pytest.mark.parametrize(
    ("status", "behind", "ahead"),
    [
        (s.CLAIMED, Turn.SKIP, Turn.TAKE),
        (s.QUEUED, Turn.SKIP, Turn.TAKE),
        (s.PROCESSING, Turn.SKIP, Turn.TAKE),
        (s.GATHERED, Turn.SKIP, Turn.SKIP),
        (s.COMPLETED, Turn.SKIP, Turn.SKIP),
        (s.FAILED, Turn.SKIP, Turn.SKIP),
    ],
)
def test_only_the_latest_message_of_an_unfinished_document_has_its_turn(
    status: DocumentStatus, behind: Turn, ahead: Turn
) -> None:
    document = replace(DOCUMENT, status=status, generation=2)
    turns = [turn_of(document, generation, NOW) for generation in (1, 2, 3)]
    assert turns == [behind, ahead, ahead]


def test_a_lease_keeps_others_away_until_it_has_run_out() -> None:
    held = replace(DOCUMENT, status=s.PROCESSING, lease=DocumentLease(holder="h", until=NOW))
    assert turn_of(held, 1, NOW - timedelta(seconds=1)) is Turn.WAIT
    assert turn_of(held, 1, NOW) is Turn.TAKE


def leased(until: datetime, crashes: int = 0) -> Document:
    return replace(
        DOCUMENT, status=s.PROCESSING, crashes=crashes, lease=DocumentLease(holder="h", until=until)
    )


@pytest.mark.parametrize(
    ("document", "rescue"),
    [
        (DOCUMENT, Rescue.NOTHING),
        (replace(DOCUMENT, claimed_at=NOW - 2 * STUCK), Rescue.SEND),
        (replace(DOCUMENT, claimed_at=NOW - 2 * STUCK, due_at=NOW + STUCK), Rescue.NOTHING),
        (replace(DOCUMENT, status=s.QUEUED, claimed_at=NOW - 9 * STUCK), Rescue.SEND_IF_NONE),
        (replace(DOCUMENT, status=s.QUEUED, claimed_at=NOW - 4 * STUCK), Rescue.NOTHING),
        (replace(DOCUMENT, status=s.QUEUED, claimed_at=NOW - 9 * STUCK, due_at=NOW), Rescue.NOTHING),
        (replace(DOCUMENT, status=s.GATHERED, claimed_at=NOW - 9 * STUCK), Rescue.NOTHING),
        (replace(DOCUMENT, status=s.COMPLETED, claimed_at=NOW - 9 * STUCK), Rescue.NOTHING),
        (leased(NOW - STUCK), Rescue.NOTHING),
        (leased(NOW - 2 * STUCK), Rescue.SEND_ANEW),
        (leased(NOW - 2 * STUCK, crashes=4), Rescue.GIVE_UP),
        (replace(DOCUMENT, status=s.PROCESSING, crashes=4), Rescue.SEND_ANEW),
        (replace(DOCUMENT, status=s.PROCESSING, crashes=5), Rescue.GIVE_UP),
    ],
)
def test_what_the_sweep_does_for_a_document(document: Document, rescue: Rescue) -> None:
    assert rescue_of(document, NOW, stuck_after=STUCK, lost_after=4 * STUCK, max_crashes=5) is rescue

"""Whatever is stored comes back as it was, through the limits of a table."""

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.limits import check_entity
from shared.domain.chunks import Chunk
from shared.domain.findings import Finding
from shared.domain.jobs import Job
from shared.domain.ledger import LedgerRow
from shared.domain.pulses import Pulse
from shared.ports.events import Event
from shared.ports.tables import Fields
from shared.stores import door
from shared.wire.records import chunk as chunk_record
from shared.wire.records import job as job_record
from shared.wire.records import small
from shared.wire.records.document import COLUMN, pack, unpack
from tests.unit.records import values

few = settings(max_examples=60)


def stored(fields: Fields) -> dict[str, Any]:
    """As a table gives them back: instants apart, the very same values."""
    check_entity("p", "r", fields)
    assert all(isinstance(value, str | int | datetime) for value in fields.values())
    return dict(fields)


@few
@given(values.jobs)
def test_a_job(job: Job) -> None:
    assert job_record.from_fields(stored(job_record.to_fields(job))) == job


@few
@given(values.chunks)
def test_a_chunk(chunk: Chunk) -> None:
    assert chunk_record.from_fields(stored(chunk_record.to_fields(chunk))) == chunk


@few
@given(values.pulses)
def test_a_pulse(pulse: Pulse) -> None:
    assert small.pulse_from_fields(stored(small.pulse_to_fields(pulse))) == pulse


@few
@given(values.ledger_rows)
def test_a_ledger_row(row: LedgerRow) -> None:
    assert small.ledger_from_fields(stored(small.ledger_to_fields(row))) == row


@few
@given(values.findings)
def test_a_finding(finding: Finding) -> None:
    assert small.finding_from_fields(stored(small.finding_to_fields(finding))) == finding


@few
@given(values.events)
def test_an_event(event: Event) -> None:
    assert small.event_from_fields(stored(small.event_to_fields(event))) == event


@few
@given(values.replies)
def test_a_reply(reply: door.Reply) -> None:
    assert door._reply_from(stored(door._reply_to(reply))) == reply


@few
@given(values.uploads)
def test_an_upload(upload: door.Upload) -> None:
    assert door._upload_from("upload_1", stored(door._upload_to(upload))) == upload


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 3000))
def test_a_document_of_any_length_is_spread_over_columns(text: str, times: int) -> None:
    document = {"text": (text + "\U0001f4a1") * times}

    fields = stored(pack("job/1", document))

    assert unpack(fields, known=("job/1",)) == document
    assert max(len(str(value)) for value in fields.values()) <= COLUMN


@pytest.mark.parametrize("length", [COLUMN - 11, COLUMN - 10, 12 * COLUMN])
def test_the_pieces_of_a_document_are_put_together_in_their_order(length: int) -> None:
    document = {"text": "".join(chr(ord("a") + i % 26) for i in range(length))}

    fields = pack("job/1", document)
    shuffled = dict(sorted(fields.items(), key=lambda item: item[0][::-1]))

    assert unpack(shuffled, known=("job/1",)) == document


def test_a_document_that_no_entity_can_hold_is_refused_before_it_is_sent() -> None:
    fields = pack("job/1", {"text": "x" * 500_000})

    with pytest.raises(ValueError, match="more than 400000"):
        check_entity("p", "r", fields)

"""What our log events look like to whoever reads them."""

import logging

from shared.adapters.logs import WithFields


def shown(name: str, **fields: object) -> str:
    record = logging.getLogger(name).makeRecord(
        name, logging.INFO, __file__, 1, "chunk.submitted", (), None, extra=fields
    )
    assert WithFields().filter(record)
    # A second handler sees the same record.
    assert WithFields().filter(record)
    return record.getMessage()


def test_an_event_is_followed_by_its_fields_once() -> None:
    assert shown("shared.services.x", job_id="job_1", chunk=3) == "chunk.submitted job_id=job_1 chunk=3"


def test_what_others_log_stays_as_it_is() -> None:
    assert shown("somebody.else", job_id="job_1") == "chunk.submitted"


def test_a_percent_sign_in_a_field_is_a_percent_sign() -> None:
    assert shown("shared.x", path="100%20.pdf") == "chunk.submitted path=100%20.pdf"

"""What our log events look like to whoever reads them."""

import logging
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from shared.adapters.logs import WithFields
from shared.adapters.memory.tables import MemoryTables
from shared.domain.ids import TenantId
from shared.domain.ledger import LedgerRow
from shared.domain.usage import Spend, Usage
from shared.stores.ledger import Ledger


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


async def test_what_is_booked_is_told_in_figures_and_without_the_tenant_s_own_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    row = LedgerRow(
        tenant=TenantId("support"),
        booked_at=datetime(2026, 11, 30, tzinfo=UTC),
        source="job_1|2",
        attempt=1,
        lane="hours",
        tags={"project": "merger of two firms"},
        run_id="run",
        alias="summarize",
        deployment="mini-batch",
        provider="azure_openai",
        model="gpt-5-mini",
        requests=3,
        outcomes={"succeeded": 3},
        usage=Usage(uncached_input=10, cached_input=5, output=7),
        unattributed=Usage(output=1),
        spend=Spend(amount=Decimal("0.1"), standard=Decimal("0.2"), unpriced=1),
        price_source="list",
        price_as_of=None,
    )

    with caplog.at_level(logging.INFO, logger="shared.stores.ledger"):
        await Ledger(MemoryTables()).book(row)

    [record] = [record for record in caplog.records if record.message == "usage.booked"]
    told = dict(vars(record))
    assert {
        name: told[name] for name in ("input", "cached", "output", "usd", "standard_usd", "unpriced")
    } == {
        "input": 15,
        "cached": 5,
        "output": 8,
        "usd": Decimal("0.1"),
        "standard_usd": Decimal("0.2"),
        "unpriced": 1,
    }
    assert (told["source"], told["attempt"], told["tenant"]) == ("job_1|2", 1, "support")
    assert "merger" not in str(told)

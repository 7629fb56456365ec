"""One line of the ledger: what one settled chunk cost, and who pays."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.domain.ids import TenantId
from shared.domain.usage import Spend, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """`source` (a job and chunk, or a document) and `attempt` make it unique; `booked_at` was fixed before.

    `requests` counts what was sent, not the inputs that share an answer. Tokens the provider billed without
    a readable row are in `unattributed` and in no other bucket.
    """

    tenant: TenantId
    booked_at: datetime
    source: str
    attempt: int
    lane: str
    tags: Mapping[str, str]
    run_id: str
    alias: str
    deployment: str
    provider: str
    model: str
    requests: int
    outcomes: Mapping[str, int]
    usage: Usage
    unattributed: Usage
    spend: Spend
    price_source: str
    price_as_of: str | None

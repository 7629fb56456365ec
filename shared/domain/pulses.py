"""The heartbeat of an unfinished job: what the sweep reads to find work that nobody drives."""

from dataclasses import dataclass
from datetime import datetime

from shared.domain.ids import JobId, TenantId


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """`run` numbers the job's orchestrations from 1; only the newest may act.

    `due_at` is when the next step was to begin at the latest; a long step moves it on while it works.
    """

    tenant: TenantId
    job_id: JobId
    run: int
    due_at: datetime
    deadline_at: datetime
    late: bool = False

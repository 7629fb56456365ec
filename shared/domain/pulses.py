"""The heartbeat of an unfinished job: what the sweep reads to find work that nobody drives."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.ids import JobId, TenantId

# The version of the orchestration. Raise it when `run_job` would do anything else with a history that an earlier
# one has begun: the sweep then starts every unfinished job anew, and what the older one was doing is fenced off.
FLOW: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """`run` numbers the job's orchestrations from 1; only the newest may act.

    `due_at` is when the next step was to begin at the latest; a long step moves it on while it works.
    `flow` is the version of the orchestration that drives the job.
    """

    tenant: TenantId
    job_id: JobId
    run: int
    due_at: datetime
    deadline_at: datetime
    late: bool = False
    flow: int = FLOW

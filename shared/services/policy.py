"""The times and bounds that an operator may turn. Taken from the settings, passed to the use cases."""

from dataclasses import dataclass
from datetime import timedelta

from shared.domain.deadlines import default_deadline
from shared.domain.waits import Backoff


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    poll: timedelta = timedelta(seconds=300)
    job_deadline: timedelta = timedelta(hours=30)
    stuck_after: timedelta = timedelta(seconds=900)
    max_attempts: int = 3
    max_repairs: int = 2
    capacity: Backoff = Backoff(first=timedelta(seconds=60), longest=timedelta(hours=1))  # noqa: RUF009
    create_timeout: timedelta = timedelta(seconds=60)
    lapse: timedelta = timedelta(days=3)
    keep_results: timedelta = timedelta(days=90)
    # Documents. A lease is renewed while its holder lives; patience ends a fault that does not pass.
    document_lease: timedelta = timedelta(seconds=60)
    document_wait: Backoff = Backoff(first=timedelta(seconds=5), longest=timedelta(minutes=5))  # noqa: RUF009
    document_patience: timedelta = timedelta(hours=6)
    document_late: timedelta = timedelta(hours=1)
    max_crashes: int = 5
    # Processes that share a deployment's tokens per minute.
    max_instances: int = 1

    def deadline(self, hours: float | None, window: timedelta) -> timedelta:
        """What a job is given: the hours it asks for, else what its provider's window calls for."""
        if hours is not None:
            return timedelta(hours=hours)
        return default_deadline(window, of_a_day=self.job_deadline)

    @property
    def hiccup(self) -> timedelta:
        """The wait after a fault that should pass by itself."""
        return min(self.poll, timedelta(seconds=30))

    @property
    def output_lag(self) -> timedelta:
        """How long an output that must be there may be missing before it counts as lost: it is paid for."""
        return 10 * self.hiccup

    @property
    def late_poll(self) -> timedelta:
        """A late batch is asked about less often: it has shown that it is in no hurry."""
        return 4 * self.poll

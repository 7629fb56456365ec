"""The times and bounds that an operator may turn. Taken from the settings, passed to the use cases."""

from dataclasses import dataclass
from datetime import timedelta

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

    @property
    def hiccup(self) -> timedelta:
        """The wait after a fault that should pass by itself."""
        return min(self.poll, timedelta(seconds=30))

    @property
    def late_poll(self) -> timedelta:
        """A late batch is asked about less often: it has shown that it is in no hurry."""
        return 4 * self.poll

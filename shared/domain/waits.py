"""How long to wait before the next try. Pure arithmetic."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """First wait, doubling up to the longest."""

    first: timedelta
    longest: timedelta

    def after(self, failures: int) -> timedelta:
        """The wait after this many failures in a row, counted from 1."""
        doublings = min(max(failures - 1, 0), 30)
        return min(self.first * (1 << doublings), self.longest)

"""The closed list of outcomes, their reasons, and how they are counted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self


class Outcome(StrEnum):
    """The final truth about one request. Values are persisted: never rename one."""

    SUCCEEDED = "succeeded"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    INVALID = "invalid"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


# Failures that another attempt may mend. Every other `failed` reason is permanent.
TRANSIENT_REASONS: Final = frozenset(
    {"missing", "unreadable", "provider_error", "rate_limited", "timeout", "infrastructure"}
)

# A provider may invent any number of codes; a record may not grow with them.
MAX_REASONS: Final = 50
OTHER: Final = "other"

Verdict = tuple[Outcome, str | None]


def is_final(outcome: Outcome, reason: str | None) -> bool:
    """Whether such an answer is never bought again unless somebody asks for it by name."""
    match outcome:
        case Outcome.EXPIRED | Outcome.CANCELLED:
            return False
        case Outcome.FAILED:
            return reason not in TRANSIENT_REASONS
        case Outcome.SUCCEEDED | Outcome.REFUSED | Outcome.TRUNCATED | Outcome.INVALID:
            return True


@dataclass(frozen=True, slots=True)
class Tally:
    """How many requests ended how. The sum is the number of requests that have an outcome."""

    counts: Mapping[Verdict, int] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, verdicts: Iterable[tuple[Verdict, int]]) -> Self:
        """Add up; beyond `MAX_REASONS` distinct verdicts further reasons are counted under `other`."""
        counts: dict[Verdict, int] = {}
        for (outcome, reason), number in verdicts:
            known = reason is None or (outcome, reason) in counts or len(counts) < MAX_REASONS
            verdict = (outcome, reason if known else OTHER)
            counts[verdict] = counts.get(verdict, 0) + number
        return cls(MappingProxyType(counts))

    def __add__(self, other: Self) -> Self:
        return type(self).of([*self.counts.items(), *other.counts.items()])

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def by_outcome(self) -> dict[Outcome, int]:
        """Every outcome, zeros included."""
        sums = dict.fromkeys(Outcome, 0)
        for (outcome, _), number in self.counts.items():
            sums[outcome] += number
        return sums

    def reasons(self) -> list[tuple[Outcome, str, int]]:
        """Outcomes that have a reason, most frequent first."""
        rows = [(o, r, n) for (o, r), n in self.counts.items() if r is not None and n]
        return sorted(rows, key=lambda row: (-row[2], row[0], row[1]))


NO_OUTCOMES = Tally()

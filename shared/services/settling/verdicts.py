"""What each row of a chunk means for its member: final, or to be sent again. Sums as it goes."""

from dataclasses import dataclass, field
from enum import IntEnum

from shared.domain.chunks import NO_ROWS, BatchEnd, Chunk, RowCounts, Settlement
from shared.domain.outcomes import Outcome, Tally, Verdict
from shared.domain.prices import PriceCard
from shared.domain.rows import (
    MISSING,
    Again,
    CheckAnswer,
    Judgement,
    Row,
    RowKind,
    blames_the_account,
    judge,
    judge_error,
)
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage
from shared.services.policy import Policy
from shared.services.settling.members import Members

# A batch that failed as a whole with one of these never judged the input: another try may pass.
TRANSIENT_CODES = frozenset({"internal_error", "server_error", "service_unavailable", "timeout"})


class Fate(IntEnum):
    OPEN = 0
    FINAL = 1
    AGAIN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A judgement with what the request has cost so far, all rounds together (None: nobody told)."""

    place: int
    judgement: Judgement
    final: bool
    usage: Usage | None
    spend: Spend | None


@dataclass(slots=True)
class Verdicts:
    """Feed every row, then ask for what is left over, then for the settlement."""

    chunk: Chunk
    members: Members
    card: PriceCard
    check: CheckAnswer | None
    policy: Policy
    fates: bytearray = field(init=False)
    # A row that says something about us and not about its request; the first one.
    account_fault: Row | None = None
    rows: RowCounts = NO_ROWS
    usage: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT
    _received: int = 0
    _duplicate: int = 0
    _alien: int = 0
    _unreadable: int = 0
    _missing: int = 0
    _counts: dict[Verdict, int] = field(default_factory=dict)
    # Members whose row could not be read: a readable one for them still counts.
    _garbled: dict[int, Judgement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fates = bytearray(len(self.members))

    def take(self, row: Row) -> Ruling | None:
        """The ruling this row leads to; None for a row that changes nothing."""
        self._received += 1
        if row.kind is RowKind.UNREADABLE:
            self._unreadable += 1
        place = self.members.number.get(row.key) if row.key is not None else None
        if place is None:
            self._alien += row.kind is not RowKind.UNREADABLE
            return None
        judgement = judge(row, self.check)
        if self.account_fault is None and blames_the_account(row):
            self.account_fault = row
        if row.kind is RowKind.UNREADABLE and self.fates[place] == Fate.OPEN:
            self._garbled[place] = judgement
            return self._rule(place, judgement, row.usage)
        if self.fates[place] != Fate.OPEN and not self._take_back(place):
            self._duplicate += 1
            return None
        return self._rule(place, judgement, row.usage)

    def rule_the_rest(self, place: int) -> Ruling | None:
        """The ruling on a member that no row spoke of."""
        if self.fates[place] != Fate.OPEN:
            return None
        self._missing += 1
        return self._rule(place, self._judge_silence(), None)

    def settlement(self, again: int) -> Settlement:
        billed = self.chunk.remote.usage
        unattributed = _beyond(billed, self.usage) if billed else NOTHING_USED
        spend = self.spend
        if unattributed != NOTHING_USED:
            spend += self.card.spend(unattributed)
        return Settlement(
            tally=Tally.of((verdict, n) for verdict, n in self._counts.items() if n),
            again=again,
            rows=RowCounts(
                received=self._received,
                duplicate=self._duplicate,
                alien=self._alien,
                unreadable=self._unreadable,
                missing=self._missing,
            ),
            usage=self.usage,
            spend=spend,
            unattributed=unattributed,
        )

    def _judge_silence(self) -> Judgement:
        chunk = self.chunk
        match chunk.end:
            case BatchEnd.CANCELLED:
                return Judgement(outcome=Outcome.CANCELLED)
            case BatchEnd.EXPIRED:
                return Judgement(outcome=Outcome.EXPIRED, again=Again.TRANSIENT)
            case BatchEnd.FAILED:
                judged = chunk.end_code is not None and chunk.end_code not in TRANSIENT_CODES
                return judge_error(400 if judged else 500, chunk.end_code, chunk.end_message)
            case BatchEnd.COMPLETED | None:
                return MISSING

    def _take_back(self, place: int) -> bool:
        """Undo the ruling on a member whose row could not be read; False if there is none."""
        judgement = self._garbled.pop(place, None)
        if judgement is None:
            return False
        if self.fates[place] == Fate.FINAL:
            self._counts[judgement.outcome, judgement.reason] -= self.members.inputs(place)
        return True

    def _rule(self, place: int, judgement: Judgement, usage: Usage | None) -> Ruling:
        spend = self.card.spend(usage) if usage is not None else None
        if usage is not None and spend is not None:
            self.usage += usage
            self.spend += spend
        if before := self.members.spent_before(place):
            usage = before[0] + (usage or NOTHING_USED)
            spend = before[1] + (spend or NOTHING_SPENT)
        final = not self._may_try_again(judgement.again)
        self.fates[place] = Fate.FINAL if final else Fate.AGAIN
        if final:
            verdict = (judgement.outcome, judgement.reason)
            self._counts[verdict] = self._counts.get(verdict, 0) + self.members.inputs(place)
        return Ruling(place=place, judgement=judgement, final=final, usage=usage, spend=spend)

    def _may_try_again(self, again: Again) -> bool:
        if self.chunk.last_try:
            return False
        match again:
            case Again.NEVER:
                return False
            case Again.TRANSIENT:
                return self.chunk.attempt < self.policy.max_attempts
            case Again.REPAIR:
                return self.chunk.attempt < min(self.policy.max_repairs, self.policy.max_attempts)


def _beyond(billed: Usage, accounted: Usage) -> Usage:
    """What the provider billed beyond the rows, bucket by bucket, never negative."""
    return Usage(
        uncached_input=max(billed.uncached_input - accounted.uncached_input, 0),
        cached_input=max(billed.cached_input - accounted.cached_input, 0),
        cache_write=max(billed.cache_write - accounted.cache_write, 0),
        output=max(billed.output - accounted.output, 0),
        reasoning=max(billed.reasoning - accounted.reasoning, 0),
    )

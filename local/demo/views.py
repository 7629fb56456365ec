"""What the demo reads of jobs, reports and results. Fields it has no use for are passed over."""

from decimal import Decimal

from msgspec import Struct


class Progress(Struct, frozen=True):
    completed: int | None = None
    failed: int | None = None


class ChunkView(Struct, frozen=True):
    attempt: int
    status: str
    requests: int
    progress: Progress


class ReasonView(Struct, frozen=True):
    outcome: str
    reason: str
    count: int


class CostView(Struct, frozen=True):
    """`amount` and `saved` are None where no price is known."""

    amount: Decimal | None
    saved: Decimal | None


class UsageView(Struct, frozen=True):
    input_tokens: int
    output_tokens: int


class WaitingView(Struct, frozen=True):
    reason: str


class JobView(Struct, frozen=True):
    """Counts are None until planning has read the input."""

    id: str
    status: str
    finished_at: str | None
    counts: dict[str, int | None]
    chunks: list[ChunkView]
    waiting: WaitingView | None = None

    @property
    def submitted(self) -> int | None:
        return self.counts["submitted"]

    @property
    def pending(self) -> int:
        return self.counts["pending"] or 0

    @property
    def answered(self) -> int:
        """Inputs with an outcome, and rows that the provider says it has done."""
        if self.submitted is None:
            return 0
        out = [chunk.progress for chunk in self.chunks if chunk.status != "settled"]
        done = sum((progress.completed or 0) + (progress.failed or 0) for progress in out)
        return min(self.submitted, self.submitted - self.pending + done)

    @property
    def round(self) -> int:
        return max((chunk.attempt for chunk in self.chunks), default=1)


class ReportView(Struct, frozen=True):
    submitted: int | None
    unique: int | None
    reused: int | None
    outcomes: dict[str, int]
    reasons: list[ReasonView]
    rows: dict[str, int]
    usage: UsageView
    cost: CostView
    balanced: bool


class DocumentCostView(Struct, frozen=True):
    """None where no price is known."""

    amount: Decimal | None


class DocumentResultView(Struct, frozen=True):
    """The result beside a dropped document. `usage` None: nobody told."""

    outcome: str
    reason: str | None
    message: str | None
    attempts: int
    usage: UsageView | None
    cost: DocumentCostView
    output: object = None

    @property
    def became(self) -> str:
        return became(self.outcome, self.reason)


class ResultView(Struct, frozen=True):
    """One result line; `output` is whatever the model was asked for."""

    custom_id: str
    outcome: str
    reason: str | None
    attempts: int
    output: object = None

    @property
    def became(self) -> str:
        return became(self.outcome, self.reason)


def became(outcome: str, reason: str | None) -> str:
    return f"{outcome}: {reason}" if reason else outcome

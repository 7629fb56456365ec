"""Jobs and documents of the demo that have come to their end, without a stack."""

from decimal import Decimal
from pathlib import Path

from local.demo.documents import Document
from local.demo.hours_lane import Finished
from local.demo.minutes_lane import Answered
from local.demo.samples import Planted, Sample
from local.demo.views import (
    ChunkView,
    CostView,
    DocumentCostView,
    DocumentResultView,
    JobView,
    Progress,
    ReasonView,
    ReportView,
    ResultView,
    UsageView,
)


def a_job(
    *,
    status: str = "running",
    submitted: int | None = 10,
    pending: int = 10,
    chunks: tuple[ChunkView, ...] = (),
) -> JobView:
    return JobView(
        id="job_1",
        status=status,
        finished_at="2026-11-30T16:00:00Z" if status in {"completed", "partial"} else None,
        counts={"submitted": submitted, "pending": pending if submitted is not None else None},
        chunks=list(chunks),
    )


def a_chunk(*, status: str = "submitted", attempt: int = 1, completed: int | None = 0) -> ChunkView:
    return ChunkView(
        attempt=attempt, status=status, requests=10, progress=Progress(completed=completed, failed=0)
    )


def finished(sample: Sample, *, planted: tuple[Planted, ...] = ()) -> Finished:
    """Everything succeeded, but for what was planted, which became what it should."""
    becomes = {trouble.custom_id: trouble.becomes.partition(": ") for trouble in planted}
    results = []
    for line in sample.inputs():
        outcome, _, reason = becomes.get(line["custom_id"], ("succeeded", "", ""))
        results.append(
            ResultView(
                custom_id=line["custom_id"], outcome=outcome, reason=reason or None, attempts=1, output="x"
            )
        )
    return Finished(
        sample=sample,
        job=a_job(status="completed", submitted=len(results), pending=0),
        report=a_report(results),
        results=tuple(results),
        folder=Path("out") / sample.name,
    )


def a_report(results: list[ResultView]) -> ReportView:
    names = ("succeeded", "refused", "truncated", "invalid", "failed", "expired", "cancelled")
    return ReportView(
        submitted=len(results),
        unique=len(results),
        reused=0,
        outcomes={name: sum(result.outcome == name for result in results) for name in names},
        reasons=[ReasonView(outcome=r.outcome, reason=r.reason, count=1) for r in results if r.reason],
        rows={"received": len(results), "duplicate": 0, "missing": 0},
        usage=UsageView(input_tokens=1200, output_tokens=34),
        cost=CostView(amount=Decimal("0.0123"), saved=Decimal("0.0123")),
        balanced=True,
    )


def answered(document: Document, *, became: str | None = None) -> Answered:
    """The document with the result that is expected of it, or with another."""
    outcome, _, reason = (became or document.becomes).partition(": ")
    result = DocumentResultView(
        outcome=outcome,
        reason=reason or None,
        message=None,
        attempts=1,
        usage=UsageView(input_tokens=100, output_tokens=10),
        cost=DocumentCostView(amount=Decimal("0.0002")),
        output="x" if outcome == "succeeded" else None,
    )
    return Answered(document=document, result=result, file=Path("out") / document.path)

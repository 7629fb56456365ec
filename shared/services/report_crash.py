"""Tell operators of a fault of our own that stopped a job's step."""

import traceback
from dataclasses import dataclass

from shared.domain.findings import Finding, FindingKind
from shared.domain.ids import JobId, TenantId
from shared.ports.clock import Clock
from shared.services.announce import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCrash:
    """A finding once a job, step and place in the code. Says where it happened, never what it held."""

    notice: Notice
    clock: Clock

    async def __call__(self, tenant: TenantId, job_id: JobId, step: str, crash: Exception) -> None:
        place = _place(crash)
        await self.notice(
            Finding(
                kind=FindingKind.STEP_FAILING,
                subject=f"{job_id}:{step}:{place}",
                tenant=tenant,
                message=f"job {job_id} was stopped in {step} by a fault of the app ({type(crash).__name__} at"
                f" {place}). The sweep starts the job again; while the fault is there, it stops again",
                found_at=self.clock.now(),
                detail={"job_id": job_id, "step": step},
            )
        )


def _place(crash: Exception) -> str:
    """The innermost line of ours."""
    frames = traceback.extract_tb(crash.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename] or list(frames)
    if not ours:
        return "unknown"
    return f"{'/'.join(ours[-1].filename.rsplit('/', 2)[-2:])}:{ours[-1].lineno}"

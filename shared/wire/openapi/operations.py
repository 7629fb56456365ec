"""Every HTTP operation: what it takes, what it answers. A test holds this list against the functions."""

from typing import Final

from shared.domain.documents import DocumentStatus
from shared.domain.jobs import JobStatus
from shared.domain.outcomes import Outcome
from shared.wire.bodies_models import JobSubmission, RescoreSubmission, RetrySubmission, UploadSubmission
from shared.wire.openapi.openai_operations import OPENAI_OPERATIONS
from shared.wire.openapi.operation import Operation, Query

NDJSON: Final = "application/x-ndjson"
CSV: Final = "text/csv"
_REFUSED: Final = {400: "Problem", 401: "Problem", 503: "Problem"}
_ONE: Final = {**_REFUSED, 404: "Problem"}
_PAGE: Final = (
    Query(name="limit", meaning="At most this many.", most=200),
    Query(name="after", meaning="`next` of the page before, with the same filters."),
)

_NATIVE: Final = (
    Operation(
        method="POST",
        path="/v1/jobs",
        summary="Submit a job to the hours lane",
        body=JobSubmission,
        idempotent=True,
        answers={202: "Job", **_ONE, 409: "Problem", 413: "Problem", 422: "Problem"},
    ),
    Operation(
        method="GET",
        path="/v1/jobs",
        summary="Your jobs, newest first",
        query=(
            Query(name="status", meaning="Only these.", values=tuple(JobStatus)),
            Query(name="alias", meaning="Only jobs of this alias."),
            Query(name="project", meaning="Only jobs with this tag."),
            Query(name="tenant", meaning="Operators only: whose jobs."),
            *_PAGE,
        ),
        answers={200: "JobPage", **_ONE},
    ),
    Operation(
        method="POST",
        path="/v1/jobs/estimate",
        summary="Not available yet: what a job would cost",
        body=JobSubmission,
        answers={**_REFUSED, 422: "Problem"},
    ),
    Operation(method="GET", path="/v1/jobs/{job_id}", summary="One job", answers={200: "Job", **_ONE}),
    Operation(
        method="DELETE",
        path="/v1/jobs/{job_id}",
        summary="Erase a finished job's content; record and ledger stay",
        answers={204: None, **_ONE, 409: "Problem"},
    ),
    Operation(
        method="GET",
        path="/v1/jobs/{job_id}/results",
        summary="The results, in input order",
        query=(
            Query(name="format", meaning="What kind of file.", values=("jsonl", "csv", "parquet")),
            Query(name="outcome", meaning="Only results with this outcome.", values=tuple(Outcome)),
            Query(name="partial", meaning="What there is so far.", values=("true", "false")),
        ),
        answers={200: NDJSON, **_ONE, 409: "Problem"},
        formats=(CSV, "application/vnd.apache.parquet"),
    ),
    Operation(
        method="GET",
        path="/v1/jobs/{job_id}/report",
        summary="The reconciliation: what was submitted against what became of it",
        answers={200: "Report", **_ONE},
    ),
    Operation(
        method="POST",
        path="/v1/jobs/{job_id}/cancel",
        summary="Cancel; what was finished before is delivered",
        answers={202: "Job", **_ONE},
    ),
    Operation(
        method="POST",
        path="/v1/jobs/{job_id}/retry",
        summary="A new job of what is not final, and of what is asked for by name",
        body=RetrySubmission,
        may_lack_body=True,
        idempotent=True,
        answers={202: "Job", **_ONE, 409: "Problem", 413: "Problem", 422: "Problem"},
    ),
    Operation(
        method="POST",
        path="/v1/uploads",
        summary="A place to put a large input",
        body=UploadSubmission,
        answers={201: "Upload", **_REFUSED, 413: "Problem"},
    ),
    Operation(
        method="GET",
        path="/v1/documents",
        summary="Your dropped documents, newest first",
        query=(
            Query(name="status", meaning="Only these.", values=tuple(DocumentStatus)),
            Query(name="pipeline", meaning="Only documents of this pipeline."),
            Query(name="tenant", meaning="Operators only: whose documents; everybody's without it."),
            *_PAGE,
        ),
        answers={200: "DroppedDocumentPage", **_ONE},
    ),
    Operation(
        method="GET",
        path="/v1/documents/{document_id}",
        summary="One version of a dropped document",
        answers={200: "DroppedDocument", **_ONE},
    ),
    Operation(
        method="DELETE",
        path="/v1/documents/{document_id}",
        summary="Erase what was dropped and what came of it; record and ledger stay",
        answers={204: None, **_ONE, 409: "Problem"},
    ),
    Operation(
        method="POST",
        path="/v1/documents/{document_id}/retry",
        summary="The same version once more: what is not final, and what is asked for by name",
        body=RetrySubmission,
        may_lack_body=True,
        answers={202: "DroppedDocument", **_ONE, 409: "Problem", 413: "Problem", 422: "Problem"},
    ),
    Operation(
        method="POST",
        path="/v1/pipelines/{name}/rescore",
        summary="A job over the documents that were dropped below a prefix",
        body=RescoreSubmission,
        idempotent=True,
        answers={202: "Job", **_ONE, 409: "Problem", 413: "Problem", 422: "Problem"},
    ),
    Operation(
        method="GET",
        path="/v1/usage",
        summary="What was used and spent, by tags and columns",
        query=(
            Query(name="by", meaning="Names of tags or columns, separated by commas."),
            Query(name="window", meaning="How far back.", values=("24h", "7d", "30d")),
            Query(name="from", meaning="In place of window: an RFC 3339 time."),
            Query(name="to", meaning="Likewise."),
            Query(name="tenant", meaning="Operators only: whose; without it everybody's."),
            Query(name="format", meaning="What kind of document.", values=("json", "csv")),
        ),
        answers={200: "Usage", **_ONE, 422: "Problem"},
        formats=(CSV,),
    ),
    Operation(
        method="GET",
        path="/v1/findings",
        summary="What the sweep found, newest first",
        query=(Query(name="limit", meaning="At most this many.", most=1000),),
        answers={200: "FindingPage", **_REFUSED},
    ),
    Operation(
        method="GET",
        path="/v1/aliases",
        summary="The model names to use",
        answers={200: "AliasPage", **_REFUSED},
    ),
    Operation(
        method="GET", path="/v1/openapi.json", summary="This document", answers={200: "Document", **_REFUSED}
    ),
    Operation(
        method="GET",
        path="/console",
        summary="Not available yet: the web console",
        answers={**_REFUSED, 422: "Problem"},
    ),
    Operation(method="GET", path="/healthz", summary="Is it alive", public=True, answers={200: "Health"}),
    Operation(
        method="GET",
        path="/readyz",
        summary="Can it reach what it needs",
        public=True,
        answers={200: "Health", 503: "Health"},
    ),
)

OPERATIONS: Final = (*_NATIVE, *OPENAI_OPERATIONS)

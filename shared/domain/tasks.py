"""What is asked about one document, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shared.domain.catalog import Alias, Pipeline
from shared.domain.ids import DeploymentName, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.usage import Spend, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOrder:
    """One task over one document's text. `schema` is what the pipeline's schema file holds.

    `alias` is the one to use, which a document may have chosen itself. `document_name` is for people; it is
    never sent to a model.
    """

    task: str
    text: str
    pipeline: Pipeline
    schema: Mapping[str, object] | None
    alias: Alias
    tenant: TenantId
    correlation_id: str
    document_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """The final truth about one task. `message` never quotes the document or an answer.

    `output` is JSON on one line: a string, the object of a schema, an object of languages, or the pieces with
    their vectors. `parts` are JSON-able: what a long document's pieces or each language came to; None when
    the task was one question. `usage` and `spend` cover every call, repeated ones included; None when no call
    was made or nobody told. `attempts` is how often the question that was asked most was asked: 2 after a
    repair, 0 when no model was called. `calls` counts what was sent.
    """

    outcome: Outcome
    reason: str | None = None
    message: str | None = None
    output: bytes | None = None
    parts: Sequence[Mapping[str, object]] | None = None
    usage: Usage | None = None
    spend: Spend | None = None
    provider: str | None = None
    model: str | None = None
    deployment: DeploymentName | None = None
    attempts: int = 0
    calls: int = 0

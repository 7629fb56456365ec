"""What the batch engine needs to know of a dialect. A new provider implements this and its routes."""

from dataclasses import dataclass
from typing import Protocol

from local.simulator.answers.questions import Question
from local.simulator.answers.replies import Failure, Reply, Verdict
from local.simulator.failures import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One request of a batch's input. `fault`: what the model's API answers instead of running it.

    `model` is empty where the batch names the model for all its lines.
    `request` is what came in, for dialects that repeat it in the row.
    """

    custom_id: str
    model: str
    question: Question
    fault: Failure | None = None
    request: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNames:
    """What a result row is called and when it was made; the same line always has the same names."""

    row: str
    request: str
    created: int


class BatchDialect(Protocol):
    """How one provider's batches read and write. Everything here is pure.

    `expires`: whether a batch that is not done when its window ends is ended by the provider.
    `output_seconds`: how long result files are kept unless the caller says otherwise; None: for ever.
    `errors_apart`: whether failed lines have a file of their own.
    `filter_is_error`: whether a filtered prompt is an error, or an answer that breaks off.
    `writes_cancelled_rows`: whether a cancelled batch says of every line that was never run that it was not.
    `keeps_empty_files`: whether there is an error file although it is empty.
    """

    @property
    def name(self) -> str: ...
    @property
    def max_lines(self) -> int: ...
    @property
    def expires(self) -> bool: ...
    @property
    def output_seconds(self) -> int | None: ...
    @property
    def errors_apart(self) -> bool: ...
    @property
    def filter_is_error(self) -> bool: ...
    @property
    def writes_cancelled_rows(self) -> bool: ...
    @property
    def keeps_empty_files(self) -> bool: ...

    def read_line(self, raw: bytes, endpoint: str | None) -> Line:
        """Raises `LineRefused` with the provider's code. Without `endpoint` the line's own is taken."""
        ...

    def fault_code(self, meaning: str) -> str:
        """The provider's word for a fault of the whole file, or of two lines together.

        Empty: the provider does not mind it.
        """
        ...

    def row(self, line: Line, names: RowNames, verdict: Verdict, endpoint: str) -> Json:
        """The row of an output or error file. Empty: the provider writes none."""
        ...

    def reply_body(self, model: str, names: RowNames, reply: Reply, endpoint: str) -> Json:
        """The body of a synchronous answer."""
        ...

    def failure_body(self, failure: Failure) -> object: ...

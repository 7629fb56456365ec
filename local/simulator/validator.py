"""The pass over a batch's input before anything runs: the first bad line fails the whole batch."""

import time
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from local.simulator.dialects.port import BatchDialect, Line
from local.simulator.failures import LineFault, LineRefused
from local.simulator.lines import LineIndex, scan

SLICE_SECONDS = 0.04


@dataclass(slots=True, kw_only=True)
class Findings:
    """What is known of the input. `tokens` is what it counts against the enqueued-token quota."""

    lines: LineIndex = field(default_factory=LineIndex)
    model: str | None = None
    tokens: int = 0
    fault: LineFault | None = None


class Validation:
    """One pass over the file, line by line, in slices: the largest takes seconds, and others wait too."""

    def __init__(self, path: Path, dialect: BatchDialect, endpoint: str) -> None:
        self._dialect = dialect
        self._endpoint = endpoint
        self._lines = scan(path)
        self._seen: set[bytes] = set()
        self.findings = Findings()

    def advance(self, seconds: float = SLICE_SECONDS) -> bool:
        """Read on for about so long; True when there is nothing left to find out."""
        deadline = time.monotonic() + seconds
        for number, start, length, raw in self._lines:
            try:
                self._take(raw)
            except LineRefused as error:
                self.findings.fault = error.at(number)
                return True
            self.findings.lines.add(start, length)
            if self._is_too_long():
                return True
            if time.monotonic() >= deadline:
                return False
        if not len(self.findings.lines):
            code = self._dialect.fault_code("empty")
            self.findings.fault = LineFault(code=code, message="The file holds no request.")
        return True

    def _take(self, raw: bytes) -> None:
        line = self._dialect.read_line(raw, self._endpoint)
        _check_file(self.findings, self._seen, line, self._dialect)
        self.findings.tokens += line.question.input_tokens

    def _is_too_long(self) -> bool:
        most = self._dialect.max_lines
        if len(self.findings.lines) <= most:
            return False
        message = f"The file holds more than {most} requests."
        self.findings.fault = LineFault(code=self._dialect.fault_code("lines"), message=message)
        return True


def validate(path: Path, dialect: BatchDialect, endpoint: str) -> Findings:
    """The whole pass at once, for a thread of its own."""
    validation = Validation(path, dialect, endpoint)
    while not validation.advance():
        continue
    return validation.findings


def _check_file(findings: Findings, seen: set[bytes], line: Line, dialect: BatchDialect) -> None:
    """What a line must have in common with the others, and what it must not."""
    findings.model = findings.model or line.model
    if line.model != findings.model and dialect.fault_code("model"):
        raise LineRefused(
            dialect.fault_code("model"),
            f"The model {line.model!r} of this line is not {findings.model!r}, as in the lines before.",
            param="body.model",
        )
    if not (code := dialect.fault_code("duplicate")):
        return
    # Digests keep the memory flat where ids are long.
    name = blake2b(line.custom_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if name in seen:
        raise LineRefused(
            code,
            f"The custom_id {line.custom_id!r} is used more than once.",
            param="custom_id",
        )
    seen.add(name)

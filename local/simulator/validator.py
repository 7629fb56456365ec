"""The pass over a batch's input before anything runs: the first bad line fails the whole batch."""

from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from local.simulator.dialects.port import BatchDialect, Line
from local.simulator.failures import LineFault, LineRefused
from local.simulator.lines import LineIndex, scan


@dataclass(slots=True, kw_only=True)
class Findings:
    """What is known of the input. `tokens` is what it counts against the enqueued-token quota."""

    lines: LineIndex = field(default_factory=LineIndex)
    model: str | None = None
    tokens: int = 0
    fault: LineFault | None = None


def validate(path: Path, dialect: BatchDialect, endpoint: str) -> Findings:
    """Reads the file once, line by line. Takes seconds for the largest; run it in a thread."""
    findings = Findings()
    seen: set[bytes] = set()
    for number, start, length, raw in scan(path):
        try:
            line = dialect.read_line(raw, endpoint)
            _check_file(findings, seen, line, dialect)
        except LineRefused as error:
            findings.fault = error.at(number)
            return findings
        findings.lines.add(start, length)
        findings.tokens += line.question.input_tokens
        if len(findings.lines) > dialect.max_lines:
            message = f"The file holds more than {dialect.max_lines} requests."
            findings.fault = LineFault(code=dialect.fault_code("lines"), message=message)
            return findings
    if not len(findings.lines):
        findings.fault = LineFault(code=dialect.fault_code("empty"), message="The file holds no request.")
    return findings


def _check_file(findings: Findings, seen: set[bytes], line: Line, dialect: BatchDialect) -> None:
    """What a line must have in common with the others, and what it must not."""
    findings.model = findings.model or line.model
    if line.model != findings.model:
        raise LineRefused(
            dialect.fault_code("model"),
            f"The model {line.model!r} of this line is not {findings.model!r}, as in the lines before.",
            param="body.model",
        )
    # Digests keep the memory flat where ids are long.
    name = blake2b(line.custom_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if name in seen:
        raise LineRefused(
            dialect.fault_code("duplicate"),
            f"The custom_id {line.custom_id!r} is used more than once.",
            param="custom_id",
        )
    seen.add(name)

"""Whether a request's text, or any text of an input file, contains what a rule looks for."""

from collections import OrderedDict
from pathlib import Path

from local.simulator.dialects.port import BatchDialect
from local.simulator.failures import LineRefused
from local.simulator.lines import scan
from local.simulator.rules import Match

MAX_REMEMBERED = 1_000

type Wanted = tuple[str | None, str | None]


class FileContents:
    """Answers by reading the file; the last answers are remembered, because files never change."""

    def __init__(self) -> None:
        self._remembered: OrderedDict[tuple[Path, Wanted], bool] = OrderedDict()

    def holds(self, path: Path, match: Match, dialect: BatchDialect, endpoint: str | None) -> bool:
        """Whether one line has the text and the custom_id of `match`. Takes as long as reading the file."""
        question = (path, (match.contains, match.custom_id))
        if question not in self._remembered:
            self._remembered[question] = any(
                _line_fits(raw, match, dialect, endpoint) for _, _, _, raw in scan(path)
            )
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
        return self._remembered[question]


def _line_fits(raw: bytes, match: Match, dialect: BatchDialect, endpoint: str | None) -> bool:
    # Most lines can be ruled out unread: without escapes, text is in the bytes as it is.
    wanted = match.contains if match.contains is not None else match.custom_id or ""
    if b"\\" not in raw and wanted.encode() not in raw:
        return False
    try:
        line = dialect.read_line(raw, endpoint)
    except LineRefused:
        return False
    if match.custom_id is not None and line.custom_id != match.custom_id:
        return False
    return match.contains is None or match.contains in line.question.everything

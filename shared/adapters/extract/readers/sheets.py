"""Workbooks: one heading per sheet, one line per row, cells separated by tabs."""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from shared.adapters.extract import refusal
from shared.adapters.extract.document import Document
from shared.adapters.extract.readers.office import markdown
from shared.adapters.extract.sink import TextSink
from shared.domain.extraction import UnreadableReason

type Cell = int | float | str | bool | time | date | datetime | timedelta


def read_workbook(document: Document, sink: TextSink) -> None:
    """Write every sheet, hidden ones too: what the file says must not depend on what was on screen."""
    with document.source.open("rb") as file:
        try:
            workbook = CalamineWorkbook.from_filelike(file)
            for name in workbook.sheet_names:
                _write_sheet(name, workbook.get_sheet_by_name(name).iter_rows(), sink)
        except PasswordError as error:
            raise refusal.encrypted("workbook") from error
        except CalamineError as error:
            raise refusal.corrupt("workbook") from error
    if not sink.has_text:
        raise refusal.empty("workbook")


def read_old_workbook(document: Document, sink: TextSink) -> None:
    """The same for XLS, with a second opinion: calamine takes some encrypted ones for damaged."""
    try:
        read_workbook(document, sink)
    except refusal.Refusal as verdict:
        if verdict.reason is not UnreadableReason.CORRUPT or sink.has_text:
            raise
        sink.write(markdown(document.source.read_bytes(), "xlsx"))


def _write_sheet(name: str, rows: Iterable[list[Cell]], sink: TextSink) -> None:
    """Empty rows are left out, and the heading of a sheet without any other."""
    heading = f"# {name}\n"
    for row in rows:
        line = "\t".join(map(shown, row)).rstrip("\t")
        if line and not line.isspace():
            sink.write(f"{heading}{line}\n")
            heading = ""
    if not heading:
        sink.write("\n")


def shown(cell: Cell) -> str:
    """`cell` as one piece of a line: no tabs, no line ends, no `.0`."""
    match cell:
        case bool():
            return "TRUE" if cell else "FALSE"
        case float():
            return f"{cell:.15g}"
        case date() | time():
            return cell.isoformat()
        case str():
            return " ".join(cell.split())
        case _:
            return str(cell)

"""XLSX row by row in flat memory: for sheets whose outermost cells lie further apart than calamine can hold.

Reads values only: dates appear as serial numbers, and empty cells between two full ones are left out.
"""

import posixpath
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError, iterparse
from zipfile import ZipFile

from shared.adapters.extract import refusal
from shared.adapters.extract.document import Document
from shared.adapters.extract.sink import TextSink

_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def read_streaming(document: Document, sink: TextSink) -> None:
    """Write every sheet: a heading, then one line per row."""
    try:
        with ZipFile(document.source) as package:
            strings = _shared_strings(package)
            for name, part in _sheets(package):
                sink.write(f"# {name}\n")
                for row in _elements(package, part, "row"):
                    _write_row(row, strings, sink)
    except (ParseError, KeyError, IndexError, ValueError) as error:
        raise refusal.corrupt("workbook") from error


def _write_row(row: Element, strings: list[str], sink: TextSink) -> None:
    line = "\t".join(filter(None, (_value(cell, strings) for cell in row)))
    if line:
        sink.write(f"{line}\n")


def _value(cell: Element, strings: list[str]) -> str:
    text = _all_text(cell, {"v", "t"})
    if cell.get("t") == "s" and text:
        return strings[int(text)]
    return text


def _shared_strings(package: ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in package.namelist():
        return []
    return [_all_text(item, {"t"}) for item in _elements(package, "xl/sharedStrings.xml", "si")]


def _sheets(package: ZipFile) -> list[tuple[str, str]]:
    """Name and part of each sheet, in the order of the workbook."""
    targets = {
        link.get("Id"): posixpath.normpath(posixpath.join("xl", link.get("Target", ""))).lstrip("/")
        for link in _elements(package, "xl/_rels/workbook.xml.rels", "Relationship")
    }
    sheets = _elements(package, "xl/workbook.xml", "sheet")
    return [(sheet.get("name", ""), targets[sheet.get(_RELATION)]) for sheet in sheets]


def _elements(package: ZipFile, part: str, name: str) -> Iterator[Element]:
    """Each element `name` of `part`, complete, and forgotten once the next one is asked for."""
    with package.open(part) as content:
        # The parser's expat bounds entities by itself, and this process is confined for all else.
        events = iterparse(content, events=("start", "end"))  # noqa: S314
        _, root = next(events)
        for event, element in events:
            if event == "end" and _local(element) == name:
                yield element
                element.clear()
                root.clear()


def _all_text(element: Element, names: set[str]) -> str:
    pieces = (part.text or "" for part in element.iter() if _local(part) in names)
    return " ".join("".join(pieces).split())


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2]

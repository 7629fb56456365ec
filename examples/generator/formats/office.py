"""Office packages, modern and OpenDocument, with the least that readers ask for."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from examples.generator.formats.compound import compound

type Cell = str | float | bool

_MAIN = "http://schemas.openxmlformats.org"
_WORD = f'xmlns:w="{_MAIN}/wordprocessingml/2006/main"'
_SHEET = f'xmlns="{_MAIN}/spreadsheetml/2006/main" xmlns:r="{_MAIN}/officeDocument/2006/relationships"'
_SLIDE = (
    f'xmlns:a="{_MAIN}/drawingml/2006/main" xmlns:p="{_MAIN}/presentationml/2006/main"'
    f' xmlns:r="{_MAIN}/officeDocument/2006/relationships"'
)
_OPEN = "urn:oasis:names:tc:opendocument:xmlns"


def package(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip of `parts`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def unfolded(packed: bytes) -> bytes:
    """The same package without compression, whose bytes would differ between machines."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as before, zipfile.ZipFile(out, "w") as after:
        for entry in before.infolist():
            after.writestr(zipfile.ZipInfo(entry.filename, entry.date_time), before.read(entry))
    return out.getvalue()


def docx(paragraphs: Sequence[str], *, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A Word document; `parts` are added to the package as they are."""
    body = "".join(f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>" for text in paragraphs)
    main = f"<w:document {_WORD}><w:body>{body}</w:body></w:document>"
    types = {"word/document.xml": "wordprocessingml.document.main"}
    return _ooxml("word/document.xml", types, {"word/document.xml": main, **(parts or {})})


def pptx(slides: Sequence[Sequence[str]]) -> bytes:
    """A presentation: per slide its lines."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in numbers)
    parts = {
        "ppt/presentation.xml": f"<p:presentation {_SLIDE}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": _links(
            {f"r{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}
        ),
    }
    types = {"ppt/presentation.xml": "presentationml.presentation.main"}
    for number, lines in zip(numbers, slides, strict=True):
        parts[f"ppt/slides/slide{number}.xml"] = _slide(lines)
        types[f"ppt/slides/slide{number}.xml"] = "presentationml.slide"
    return _ooxml("ppt/presentation.xml", types, parts)


def xlsx(sheets: Mapping[str, Mapping[str, Cell]]) -> bytes:
    """A workbook: per sheet its cells by their address, row by row in order."""
    numbers = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>'
        for n, name in zip(numbers, sheets, strict=True)
    )
    parts = {
        "xl/workbook.xml": f"<workbook {_SHEET}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _links(
            {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in numbers}
        ),
    }
    types = {"xl/workbook.xml": "spreadsheetml.sheet.main"}
    for number, cells in zip(numbers, sheets.values(), strict=True):
        parts[f"xl/worksheets/sheet{number}.xml"] = _worksheet(cells)
        types[f"xl/worksheets/sheet{number}.xml"] = "spreadsheetml.worksheet"
    return _ooxml("xl/workbook.xml", types, parts)


def odt(paragraphs: Sequence[str]) -> bytes:
    """An OpenDocument text."""
    body = "".join(f"<text:p>{escape(text)}</text:p>" for text in paragraphs)
    content = (
        f'<office:document-content xmlns:office="{_OPEN}:office:1.0" xmlns:text="{_OPEN}:text:1.0">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return package({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def xls(rows: Sequence[Sequence[str]]) -> bytes:
    """A workbook of Excel 97."""
    cells = b"".join(
        _record(0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1"))
        for row, texts in enumerate(rows)
        for column, text in enumerate(texts)
    )
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0)) + cells + _record(0x0A, b"")
    start = len(_workbook_globals(0))
    return compound({"Workbook": _workbook_globals(start) + sheet})


def _slide(lines: Sequence[str]) -> str:
    shapes = "".join(
        f'<p:sp><p:nvSpPr><p:cNvPr id="{n}" name="t"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody>'
        f"<a:bodyPr/><a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p></p:txBody></p:sp>"
        for n, line in enumerate(lines, start=2)
    )
    return f"<p:sld {_SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"


def _worksheet(cells: Mapping[str, Cell]) -> str:
    rows: dict[str, str] = {}
    for address, value in cells.items():
        row = address.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        rows[row] = rows.get(row, "") + _cell(address, value)
    body = "".join(f'<row r="{row}">{content}</row>' for row, content in rows.items())
    return f"<worksheet {_SHEET}><sheetData>{body}</sheetData></worksheet>"


def _cell(address: str, value: Cell) -> str:
    if isinstance(value, bool):
        return f'<c r="{address}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        return f'<c r="{address}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{address}"><v>{value}</v></c>'


def _ooxml(main: str, types: Mapping[str, str], parts: Mapping[str, str | bytes]) -> bytes:
    prefix = "application/vnd.openxmlformats-officedocument"
    overrides = "".join(
        f'<Override PartName="/{part}" ContentType="{prefix}.{kind}+xml"/>' for part, kind in types.items()
    )
    declared = f'<Types xmlns="{_MAIN}/package/2006/content-types">{overrides}</Types>'
    return package(
        {"[Content_Types].xml": declared, "_rels/.rels": _links({"r1": ("officeDocument", main)}), **parts}
    )


def _links(targets: Mapping[str, tuple[str, str]]) -> str:
    kinds = f"{_MAIN}/officeDocument/2006/relationships"
    links = "".join(
        f'<Relationship Id="{key}" Type="{kinds}/{kind}" Target="{target}"/>'
        for key, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="{_MAIN}/package/2006/relationships">{links}</Relationships>'


def _record(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _workbook_globals(sheet_at: int) -> bytes:
    begin = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + _record(
        0x42, struct.pack("<H", 1_200)
    )
    return begin + _record(0x85, struct.pack("<IBBBB", sheet_at, 0, 0, 2, 0) + b"S1") + _record(0x0A, b"")

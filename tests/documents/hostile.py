"""Files made to break or to outlast their readers."""

import struct
import zlib

from examples.generator.formats.office import docx, package


def bomb(name: str, *, megabytes: int) -> bytes:
    """A zip with one entry of `megabytes` of zeros, made without ever holding or compressing them all."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush every block stands alone, so the same megabyte can be written again and again.
    megabyte = deflate.compress(bytes(2**20)) + deflate.flush(zlib.Z_FULL_FLUSH)
    packed, unfolded = megabyte * megabytes + deflate.flush(), megabytes * 2**20
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0x21, 0, len(packed), unfolded, len(name), 0)
    local = b"PK\x03\x04" + fields + name.encode() + packed
    central = b"PK\x01\x02" + struct.pack("<H", 20) + fields + bytes(14) + name.encode()
    return local + central + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def lying_package(honest: bytes, *, declared_bytes: int) -> bytes:
    """`honest` with every entry declared to unfold to `declared_bytes`, in both of its directories."""
    data = bytearray(honest)
    for signature, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.find(signature)
        while at >= 0:
            struct.pack_into("<I", data, at + place, declared_bytes)
            at = data.find(signature, at + 4)
    return bytes(data)


def crowded_package(*, files: int) -> bytes:
    """A document among many tiny files."""
    return docx(["x"], parts={f"word/media/{n}": b"" for n in range(files)})


def entity_workbook() -> bytes:
    """A workbook whose cells are entities of entities: a few hundred bytes that mean a billion."""
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    sheet = (
        f'<!DOCTYPE x [<!ENTITY e0 "lol">{levels}]>'
        '<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&e9;</t></is></c></row></sheetData>'
        "</worksheet>"
    )
    workbook = (
        '<workbook xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>'
    )
    links = '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>'
    return package(
        {"xl/workbook.xml": workbook, "xl/_rels/workbook.xml.rels": links, "xl/worksheets/sheet1.xml": sheet}
    )


def deep_page(*, depth: int) -> bytes:
    """A web page of `depth` boxes in each other, with a word in the innermost."""
    return b"<html><body>" + b"<div>" * depth + b"the bottom"

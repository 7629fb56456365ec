"""OLE compound files: the container of old and of encrypted office documents."""

import struct

_SECTOR = 512
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(streams: dict[str, bytes]) -> bytes:
    """A version 3 compound file with `streams` in its root, each padded to 4,096 bytes at least."""
    padded = {name: data.ljust(4_096, b"\0") for name, data in streams.items()}
    directory_sectors = -(-(len(padded) + 1) // 4)
    chains, body, at = [_FAT], b"", 1 + directory_sectors
    chains += _chain(1, directory_sectors)
    entries = [_entry("Root Entry", kind=5, child=1, start=_END)]
    for number, (name, data) in enumerate(padded.items(), start=1):
        sectors = -(-len(data) // _SECTOR)
        right = number + 1 if number < len(padded) else _FREE
        entries.append(_entry(name, kind=2, right=right, start=at, size=len(data)))
        chains += _chain(at, sectors)
        body += data.ljust(sectors * _SECTOR, b"\0")
        at += sectors
    if len(chains) > _SECTOR // 4:
        raise ValueError("one FAT sector holds 64 kB of streams")
    fat = struct.pack(f"<{len(chains)}I", *chains).ljust(_SECTOR, b"\xff")
    directory = b"".join(entries).ljust(directory_sectors * _SECTOR, b"\0")
    return _header() + fat + directory + body


def _chain(first: int, sectors: int) -> list[int]:
    return [*range(first + 1, first + sectors), _END]


def _header() -> bytes:
    fields = struct.pack("<16xHHHHH6xIIIIIIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, 1, 1, 0, 4_096, _END, 0, _END, 0)
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + fields + struct.pack("<I", 0) + b"\xff" * 4 * 108


def _entry(
    name: str, *, kind: int, child: int = _FREE, right: int = _FREE, start: int, size: int = 0
) -> bytes:
    encoded = (name + "\0").encode("utf-16-le")
    links = struct.pack("<HBBIII", len(encoded), kind, 1, _FREE, right, child)
    return encoded.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)

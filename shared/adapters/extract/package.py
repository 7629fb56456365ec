"""Guards for zip packages: what the entries truly unfold to is counted before a parser may unfold them."""

import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from shared.adapters.extract import refusal
from shared.adapters.extract.limits import ChildLimits

_PIECE_BYTES = 2**18
_MIMETYPE_BYTES = 128
_IS_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package whose entries are as small as they say."""

    names: frozenset[str]
    mimetype: str

    @property
    def has_pictures(self) -> bool:
        """Whether pages of it may be scans."""
        return any("/media/" in name or name.startswith("Pictures/") for name in self.names)


def inspect(source: Path, limits: ChildLimits) -> Package:
    """Unfold every entry of `source` once, in small pieces, keeping none.

    Stops at the first byte too many: an entry that is longer than it declares is `corrupt`, packages
    with too many entries or too much content are `too_large`.
    """
    try:
        with ZipFile(source) as package:
            return _inspect(package, limits)
    except (BadZipFile, zlib.error, EOFError, UnicodeDecodeError, NotImplementedError) as error:
        raise refusal.corrupt("package") from error


def _inspect(package: ZipFile, limits: ChildLimits) -> Package:
    entries = package.infolist()
    if len(entries) > limits.max_entries:
        raise refusal.too_large(f"The package holds more than {limits.max_entries:,} files.")
    left = limits.max_inflated_bytes
    for entry in entries:
        left -= _unfolded_bytes(package, entry, left, limits)
    return Package(names=frozenset(entry.filename for entry in entries), mimetype=_mimetype(package))


def _mimetype(package: ZipFile) -> str:
    """What an OpenDocument file or an e-book declares itself to be; empty for all others."""
    if "mimetype" not in package.namelist():
        return ""
    with package.open("mimetype") as content:
        return content.read(_MIMETYPE_BYTES).decode("ascii", "replace").strip()


def _unfolded_bytes(package: ZipFile, entry: ZipInfo, left: int, limits: ChildLimits) -> int:
    if entry.flag_bits & _IS_ENCRYPTED:
        raise refusal.encrypted("package")
    if entry.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise refusal.corrupt("package")
    declared = entry.file_size
    # zipfile stops at the declared size and parsers do not: lift it, to see where the data really ends.
    entry.file_size = sys.maxsize
    unfolded = 0
    with package.open(entry) as content:
        while piece := content.read(_PIECE_BYTES):
            unfolded += len(piece)
            if unfolded > left:
                raise refusal.too_large(
                    f"The package unfolds to more than {limits.max_inflated_bytes:,} bytes."
                )
            if unfolded > declared:
                raise refusal.corrupt("package")
    return unfolded

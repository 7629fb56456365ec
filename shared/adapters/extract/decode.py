"""Bytes of a text file to text: byte order mark, UTF-8, the declared charset, UTF-16 by its zeros."""

import codecs
import re

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # The mark of UTF-32 little endian begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w.:-]{1,40})", re.IGNORECASE)
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\ufffe\uffff]")
_SAMPLE_CHARACTERS = 16_384
_MAX_CONTROL_SHARE = 0.01
_MAX_NUL_SHARE = 0.25
_HARMLESS = 4

# Which share of UTF-16's pairs has a zero byte: in Latin script nearly all, elsewhere spaces and digits.
_LATIN_ZEROS = 0.7
_SOME_ZEROS = 0.1


def decode(data: bytes, *, content_type: str | None = None) -> str | None:
    """The text of `data` where its encoding is certain; None where only statistics could tell.

    Cheap: at most a few passes over `data`.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _printable(data[len(mark) :].decode(encoding, "replace"))
    # Latin letters in UTF-16 are also valid UTF-8, of which every second character is NUL.
    if (text := _by_zeros(data, at_least=_LATIN_ZEROS)) is not None:
        return text
    for candidate in ("utf-8", _declared(content_type)):
        if candidate and (text := _strictly(data, candidate)) is not None:
            return text
    return _by_zeros(data, at_least=_SOME_ZEROS)


def tidy(text: str) -> str:
    """`text` as the port promises it: no NUL, lines ended by a line feed."""
    text = text.replace("\0", "") if "\0" in text else text
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _declared(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type or "")
    return found[1] if found else None


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return _printable(data.decode(encoding))
    except (UnicodeDecodeError, LookupError):
        return None


def _by_zeros(data: bytes, *, at_least: float) -> str | None:
    """UTF-16 without a mark: its zeros stand on one side of the pairs only."""
    if b"\0" not in data:
        return None
    zeros_first, zeros_second = data[0::2].count(0), data[1::2].count(0)
    if max(zeros_first, zeros_second) < at_least * len(data) / 2:
        return None
    if zeros_second > 10 * zeros_first:
        return _strictly(data, "utf-16-le")
    if zeros_first > 10 * zeros_second:
        return _strictly(data, "utf-16-be")
    return None


def _printable(text: str) -> str | None:
    """`text` unless control characters show that it is no text; a few of them do no harm."""
    sample = text[:_SAMPLE_CHARACTERS]
    if sample.count("\0") > max(_HARMLESS, _MAX_NUL_SHARE * len(sample)):
        return None
    controls = len(_CONTROL.findall(sample))
    return text if controls <= max(_HARMLESS, _MAX_CONTROL_SHARE * len(sample)) else None

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
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffe\uffff]")
_MAX_CONTROL_SHARE = 0.01
_SAMPLE_CHARACTERS = 16_384


def decode(data: bytes, *, content_type: str | None = None) -> str | None:
    """The text of `data` where its encoding is certain; None where only statistics could tell.

    Cheap: at most a few passes over `data`.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _printable(data[len(mark) :].decode(encoding, "replace"))
    for candidate in ("utf-8", _declared(content_type)):
        if candidate and (text := _strictly(data, candidate)) is not None:
            return text
    return _by_zeros(data)


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


def _by_zeros(data: bytes) -> str | None:
    """UTF-16 without a mark: Latin letters and spaces leave zeros on one side of the pairs only."""
    zeros_first, zeros_second = data[0::2].count(0), data[1::2].count(0)
    if zeros_second > 10 * zeros_first:
        return _strictly(data, "utf-16-le")
    if zeros_first > 10 * zeros_second:
        return _strictly(data, "utf-16-be")
    return None


def _printable(text: str) -> str | None:
    """`text` unless control characters show that it is no text. A few, NUL among them, do no harm."""
    sample = text[:_SAMPLE_CHARACTERS]
    noise = len(_CONTROL.findall(sample))
    return text if noise <= max(4, _MAX_CONTROL_SHARE * len(sample)) else None

"""The form that a file comes in: read piece by piece, the file's own bytes handed on as they come."""

import re
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from shared.domain.files import Purpose
from shared.wire.openai_problems import Invalid
from shared.wire.problems import TooLarge, printable

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

# OpenAI's own limits (its Files API reference, read 2026-11-30).
MAX_FILE: Final = 200 * 1024 * 1024
LEAST_SECONDS: Final = 3_600
MOST_SECONDS: Final = 2_592_000
# What belongs to the form and is not the file.
MAX_REST: Final = 1024 * 1024
MAX_FIELD: Final = 10_000
MAX_FIELDS: Final = 20
MAX_FILENAME: Final = 255

# Both notations are in use: brackets by the official clients, a dot in Azure's samples.
_EXPIRY: Final = re.compile(r"expires_after(?:\[(\w{1,20})\]|\.(\w{1,20}))")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWish:
    """What the form says of its file. `seconds`: how long it is kept."""

    filename: str
    purpose: Purpose
    seconds: int


class FileForm:
    """One upload. Read `pieces` to their end, then ask for the `wish`."""

    def __init__(self, content_type: str | None) -> None:
        """Raise `Invalid` if that is no form."""
        media, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if media != b"multipart/form-data" or not boundary:
            raise Invalid("the body must be multipart/form-data with a boundary")
        self._parts = _Parts()
        try:
            self._parser = MultipartParser(boundary, self._parts.callbacks())
        except FormParserError as fault:
            raise Invalid("the form's boundary is too long") from fault

    async def pieces(self, body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """The file's bytes. Ends only when the whole form has been read and is good.

        Raise `Invalid`, and `TooLarge` for a file of more than `MAX_FILE` bytes.
        """
        size = read = 0
        async for data in body:
            read += len(data)
            if read > MAX_FILE + MAX_REST:
                raise too_large()
            for piece in self._fed(data):
                size += len(piece)
                if size > MAX_FILE:
                    raise too_large()
                yield piece
        if not self._parts.is_over:
            raise Invalid("the form breaks off before its end")
        self.wish  # noqa: B018  # raises for a bad form while the file can still be dropped

    @property
    def wish(self) -> FileWish:
        """Raise `Invalid` for fields that cannot be."""
        fields, filename = self._parts.fields, self._parts.filename
        if filename is None:
            raise Invalid("'file' is a required property", param="file", code="missing_required_parameter")
        return FileWish(filename=filename, purpose=_purpose(fields.get("purpose")), seconds=_seconds(fields))

    def _fed(self, data: bytes) -> list[bytes]:
        try:
            self._parser.write(data)
        except FormParserError as fault:
            raise Invalid(
                "the form cannot be read; send multipart/form-data as the official clients do"
            ) from (fault)
        return self._parts.taken()


class _Parts:
    """What the parser has found so far."""

    def __init__(self) -> None:
        self.fields: dict[str, str] = {}
        self.filename: str | None = None
        self.is_over = False
        self._is_file = False
        self._name = ""
        self._held: list[bytes] = []
        self._field = bytearray()
        self._header = bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._value = bytearray()

    def callbacks(self) -> "MultipartCallbacks":
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._header.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._end_header,
            "on_headers_finished": self._open,
            "on_part_data": self._take,
            "on_part_end": self._close,
            "on_end": self._end,
        }

    def taken(self) -> list[bytes]:
        """The file's bytes since the last call."""
        held, self._held = self._held, []
        return held

    def _begin(self) -> None:
        self._headers, self._field = {}, bytearray()
        self._header, self._value = bytearray(), bytearray()

    def _end_header(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._value)
        self._header, self._value = bytearray(), bytearray()

    def _open(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b"").decode("latin-1"))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        self._is_file = self._name == "file"
        if self._is_file:
            if self.filename is not None:
                raise Invalid("the form has more than one file; send them one by one", param="file")
            given = options.get(b"filename", b"").decode("utf-8", "replace")
            self.filename = printable(given, most=MAX_FILENAME) or "upload"

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self._held.append(data[start:end])
        else:
            self._field += data[start:end]
            if len(self._field) > MAX_FIELD:
                raise Invalid("a field of the form is too long", param=printable(self._name))

    def _close(self) -> None:
        if not self._is_file:
            self.fields[self._name] = self._field.decode("utf-8", "replace")
            if len(self.fields) > MAX_FIELDS:
                raise Invalid(f"the form has more than {MAX_FIELDS} fields")
        self._is_file = False

    def _end(self) -> None:
        self.is_over = True


def too_large() -> TooLarge:
    return TooLarge(
        f"a file has at most {MAX_FILE // (1024 * 1024)} MB; split it, or send the job through POST /v1/uploads"
        " and /v1/jobs"
    )


def _purpose(given: str | None) -> Purpose:
    if given is None:
        raise Invalid("'purpose' is a required property", param="purpose", code="missing_required_parameter")
    if given != Purpose.BATCH:
        raise Invalid(
            f"Invalid value: '{printable(given)}'. Files are taken for 'batch' only.",
            param="purpose",
            code="invalid_value",
        )
    return Purpose.BATCH


def _seconds(fields: dict[str, str]) -> int:
    """How long the file is kept; as long as possible where the form does not say it."""
    given = {(f[1] or f[2]): text for name, text in fields.items() if (f := _EXPIRY.fullmatch(name))}
    if not given:
        return MOST_SECONDS
    if given.get("anchor", "created_at") != "created_at":
        raise Invalid(
            "expires_after.anchor must be 'created_at'", param="expires_after.anchor", code="invalid_value"
        )
    text = given.get("seconds", "")
    digits = text if text.isascii() and text.isdigit() and len(text) < 10 else "0"
    return checked_seconds(int(digits), "expires_after")


def checked_seconds(seconds: int, name: str) -> int:
    """Raise `Invalid` unless files may be kept for so long."""
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise Invalid(
            f"{name}.seconds must be a whole number from {LEAST_SECONDS} to {MOST_SECONDS}",
            param=f"{name}.seconds",
            code="invalid_value",
        )
    return seconds

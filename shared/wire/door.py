"""The door: raw lines in, requests or a list of everything that is wrong with them out.

The same code checks small bodies before they are accepted and large ones while they are planned.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec

from shared.domain.catalog import Endpoint
from shared.wire.door_expected import Expected
from shared.wire.door_faults import BadField, read_object
from shared.wire.door_ids import CustomIds
from shared.wire.door_inputs import InputReader
from shared.wire.door_requests import RequestReader
from shared.wire.jsonl import Line
from shared.wire.problems import MAX_ERRORS, InputErrors, LineError
from shared.wire.templates import Template, Value

__all__ = ["Door", "Expected", "Input", "Request", "canonical", "input_door", "numbered", "request_door"]

MAX_REQUESTS: Final = 1_000_000

_encode_sorted: Final = msgspec.json.Encoder(order="sorted").encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry[Content]:
    """One good line. `line` counts as the client does, `position` only requests; both from 1."""

    line: int
    position: int
    custom_id: str
    content: Content


# The content is the effective body, without the model.
type Request = Entry[dict[str, object]]
# The content is what the template's names stand for.
type Input = Entry[Mapping[str, Value]]


class Reader[Content](Protocol):
    @property
    def endpoint(self) -> Endpoint | None: ...

    def check_entry(self, entry: dict[str, object]) -> None: ...

    def read(self, entry: dict[str, object], line: int) -> Content: ...


class Door[Content]:
    """Takes one job's lines in order, then is closed. Holds the ids it has seen and the first errors."""

    def __init__(self, reader: Reader[Content], *, max_line_bytes: int) -> None:
        self._reader = reader
        self._max_line_bytes = max_line_bytes
        self._ids = CustomIds()
        self._errors: list[LineError] = []
        self._bad = 0
        self._position = 0

    @property
    def endpoint(self) -> Endpoint | None:
        """None until a line has decided it."""
        return self._reader.endpoint

    @property
    def requests(self) -> int:
        """The lines seen so far, bad ones included."""
        return self._position

    @property
    def is_sound(self) -> bool:
        """No line was refused so far."""
        return not self._bad

    def admit(self, lines: Iterable[Line]) -> list[Entry[Content]]:
        """The good lines among these. Bad ones are kept for `close`; it is always called.

        Raise `InputErrors` at once when there are more than `MAX_REQUESTS`.
        """
        admitted: list[Entry[Content]] = []
        for number, content in lines:
            self._position += 1
            if self._position > MAX_REQUESTS:
                raise self._too_many(number)
            try:
                admitted.append(self._entry(number, content))
            except BadField as bad:
                self._refuse(LineError(line=number, field=bad.field, message=bad.message, code=bad.code))
        return admitted

    def close(self) -> None:
        """Raise `InputErrors` if any line was bad, or there was none."""
        if not self._position:
            raise InputErrors([LineError(line=None, field=None, message="there is no request in it")])
        if self._bad:
            raise InputErrors(self._errors, total=self._bad)

    def _entry(self, number: int, content: bytes | None) -> Entry[Content]:
        if content is None:
            raise BadField(
                None, f"is longer than {self._max_line_bytes:,} bytes, the most a request may have"
            )
        entry = read_object(content)
        self._reader.check_entry(entry)
        custom_id = self._ids.take(entry, line=number, position=self._position)
        body = self._reader.read(entry, number)
        return Entry(line=number, position=self._position, custom_id=custom_id, content=body)

    def _refuse(self, error: LineError) -> None:
        self._bad += 1
        if len(self._errors) < MAX_ERRORS:
            self._errors.append(error)

    def _too_many(self, line: int) -> InputErrors:
        message = f"is one more than the {MAX_REQUESTS:,} requests a job may have; split the job"
        error = LineError(line=line, field=None, message=message)
        return InputErrors([error, *self._errors], total=self._bad + 1)


def request_door(expected: Expected) -> Door[dict[str, object]]:
    """For `requests` and uploads. Raise `Unusable` if the job asks for what its endpoint does not have."""
    return Door(RequestReader(expected), max_line_bytes=expected.max_line_bytes)


def input_door(expected: Expected, template: Template) -> Door[Mapping[str, Value]]:
    """For `inputs`. Raise `Unusable` likewise."""
    return Door(InputReader(expected, template), max_line_bytes=expected.max_line_bytes)


def numbered(elements: Iterable[bytes | msgspec.Raw], *, max_line_bytes: int) -> Iterable[Line]:
    """The elements of an array as lines, counted by position."""
    for position, element in enumerate(elements, 1):
        content = bytes(element)
        yield position, content if len(content) <= max_line_bytes else None


def canonical(body: Mapping[str, object]) -> bytes:
    """The same bytes for the same body, whatever the order of its keys."""
    return _encode_sorted(body)

"""The tenant's names for its requests: checked, filled in, and unique within a job."""

import hashlib
from typing import Final

from shared.domain.digest_numbers import DigestNumbers
from shared.wire.door_faults import DUPLICATE, BadField, kind_of
from shared.wire.problems import short

MAX_CUSTOM_ID: Final = 512


class CustomIds:
    """Remembers every id of a job by a digest."""

    def __init__(self) -> None:
        self._lines = DigestNumbers()

    def take(self, entry: dict[str, object], *, line: int, position: int) -> str:
        """The id of the request at `position` (from 1), which is its name if it was given none."""
        given = "custom_id" in entry
        name = _checked(entry["custom_id"]) if given else str(position)
        digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
        first = self._lines.first(digest, line)
        if first != line:
            raise BadField("custom_id", _duplicate(name, given=given, first=first, line=line), code=DUPLICATE)
        return name


def _checked(value: object) -> str:
    if not isinstance(value, str):
        raise BadField(
            "custom_id", f"must be a string, not {kind_of(value)}; leave it out to get the position"
        )
    if not value:
        raise BadField("custom_id", "must not be empty; leave it out to get the position")
    if len(value) > MAX_CUSTOM_ID:
        raise BadField("custom_id", f"has {len(value)} characters; {MAX_CUSTOM_ID} are allowed")
    return value


def _duplicate(name: str, *, given: bool, first: int, line: int) -> str:
    if given:
        return f"{short(name)} is used on line {first} and again on line {line}; ids are unique within a job"
    return f"line {line} has none and would get its position, {short(name)}, which line {first} already uses"

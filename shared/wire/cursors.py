"""`after`: where the next page of a list begins. Opaque, and good only for the list that gave it."""

import base64
import binascii
import hashlib
from typing import Final

from shared.wire.problems import InputErrors, invalid

_SUM_SIZE: Final = 8
_MAX_CURSOR: Final = 1024


def write_cursor(scope: str, position: str) -> str:
    """`scope` names the list: its tenant and filters. `position` is the last row that was shown."""
    text = position.encode()
    return base64.urlsafe_b64encode(_sum(scope, text) + text).decode().rstrip("=")


def read_cursor(scope: str, cursor: str) -> str:
    """The position. Raise `InputErrors` for whatever `write_cursor` did not make for this very list."""
    if len(cursor) > _MAX_CURSOR:
        raise _unknown()
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
        position = raw[_SUM_SIZE:].decode()
    except (binascii.Error, ValueError):
        raise _unknown() from None
    if raw[:_SUM_SIZE] != _sum(scope, raw[_SUM_SIZE:]) or cursor != write_cursor(scope, position):
        raise _unknown()
    return position


def _sum(scope: str, position: bytes) -> bytes:
    # No secret: it tells typos and other lists' cursors apart. Rows are looked up in the caller's own list.
    hashed = hashlib.blake2b(scope.encode(), digest_size=_SUM_SIZE, person=b"postern-cursor")
    hashed.update(b"\0" + position)
    return hashed.digest()


def _unknown() -> InputErrors:
    return invalid("after", "is no cursor of this list; take `next` of an answer with the same filters")

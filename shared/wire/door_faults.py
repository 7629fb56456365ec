"""What the readers of lines share: one fault, and words for JSON."""

from collections.abc import Iterable
from typing import Final

import msgspec

from shared.wire.problems import INVALID_REQUEST, printable, short

# OpenAI's names for what is wrong with a line of a batch (its API reference, read 2026-11-30).
BAD_JSON: Final = "invalid_json_line"
MISSING: Final = "missing_required_parameter"
DUPLICATE: Final = "duplicate_custom_id"
WRONG_URL: Final = "invalid_url"
WRONG_MODEL: Final = "mismatched_model"
UNKNOWN_MODEL: Final = "model_not_found"
STREAMING: Final = "streaming_unsupported"

# Providers and JSON libraries give up at various depths; nobody needs this much.
MAX_DEPTH: Final = 100

_decode: Final = msgspec.json.Decoder().decode


class BadField(Exception):
    """What is wrong with the line at hand. Caught by the door, which knows the line's number."""

    def __init__(self, field: str | None, message: str, *, code: str = INVALID_REQUEST) -> None:
        super().__init__(message)
        self.field = field
        self.message = message
        self.code = code


def read_object(content: bytes) -> dict[str, object]:
    """The JSON object that `content` is. No NaN, no half surrogate pairs, no abysmal nesting."""
    try:
        value = _decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadField(None, f"is not JSON: {why_malformed(error)}", code=BAD_JSON) from None
    except RecursionError:
        raise BadField(None, f"is nested deeper than {MAX_DEPTH} levels", code=BAD_JSON) from None
    if type(value) is not dict:
        raise BadField(None, f"must be a JSON object, not {kind_of(value)}", code=BAD_JSON)
    # Every level costs a bracket: without enough of them there is nothing to walk through.
    if content.count(b"{") + content.count(b"[") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise BadField(None, f"is nested deeper than {MAX_DEPTH} levels", code=BAD_JSON)
    return value


def refuse_unknown(entry: dict[str, object], known: frozenset[str], hint: str) -> None:
    """Name the first field that nobody would read: it is a typo, or a wish that would be ignored."""
    for name in entry:
        if name not in known:
            raise BadField(printable(name), f"unknown field {short(name)}; {hint}")


def why_malformed(error: Exception) -> str:
    """The decoder's complaint, which holds a position and no content."""
    text = str(error).removeprefix("JSON is malformed: ")
    if text == "Input data was truncated":
        return "it ends in the middle of a value or of a surrogate pair"
    return text[:1].lower() + text[1:]


def kind_of(value: object) -> str:
    """The JSON type of a decoded value, with its article."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def is_deeper(value: object, limit: int) -> bool:
    """Whether arrays and objects are nested more than `limit` deep. Never recurses."""
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return any(isinstance(value, (dict, list)) for value in level)


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()

"""JSON bodies, taken apart without building what is large, and the complaints about them."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec
from pydantic import BaseModel, ValidationError

from shared.wire.door_faults import MAX_DEPTH, is_deeper, why_malformed
from shared.wire.jsonl import BOM
from shared.wire.problems import MAX_ERRORS, InputErrors, LineError, invalid, printable, short

# Fields that hold no more than a name or a number. The bound is generous: it only keeps nonsense small.
_SMALL: Final = 16 * 1024

# A larger body could have millions of members, and may only have the ones we know.
_ANY_MEMBERS: Final = 256 * 1024
_UNKNOWN: Final = re.compile(r"unknown field `(.*)`", re.DOTALL)


class _Object(msgspec.Struct, gc=False):
    """Any object, at the least cost."""


_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements: Final = msgspec.json.Decoder(list[msgspec.Raw]).decode
_objects: Final = msgspec.json.Decoder(list[_Object]).decode
_value: Final = msgspec.json.Decoder().decode


def read_members(body: bytes, known: frozenset[str]) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, each still raw; those that are null are left out.

    Costs no more than the body itself: a large one ends at the first member that is not `known`. Raise
    `InputErrors` with the position where it is not JSON.
    """
    text = body.removeprefix(BOM)
    if not text.strip():
        raise invalid(None, "the body is empty; send a JSON object")
    try:
        members = _members(text) if len(text) <= _ANY_MEMBERS else _known_members(text, known)
    except msgspec.ValidationError as error:
        if found := _UNKNOWN.search(str(error)):
            raise InputErrors([_unknown(found[1], known)]) from None
        kind = _kind_of_raw(memoryview(text[:64].lstrip()))
        raise invalid(None, f"the body must be a JSON object, not {kind}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise invalid(None, f"the body is not JSON: {why_malformed(error)}") from None
    except RecursionError:
        raise invalid(None, f"the body is nested deeper than {MAX_DEPTH} levels") from None
    return {name: raw for name, raw in members.items() if bytes(memoryview(raw)[:5]) != b"null"}


def _known_members(text: bytes, known: frozenset[str]) -> dict[str, msgspec.Raw]:
    members = _decoder(known).decode(text)
    found = {name: getattr(members, name) for name in known}
    return {name: raw for name, raw in found.items() if raw is not msgspec.UNSET}


@cache
def _decoder(known: frozenset[str]) -> msgspec.json.Decoder[msgspec.Struct]:
    fields = [(name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for name in known]
    return msgspec.json.Decoder(msgspec.defstruct("Members", fields, forbid_unknown_fields=True))


def refuse_unknown_members(members: Mapping[str, object], known: frozenset[str]) -> None:
    """Name every field that nobody would read."""
    unknown = [name for name in members if name not in known]
    if unknown:
        errors = [_unknown(name, known) for name in unknown[:MAX_ERRORS]]
        raise InputErrors(errors, total=len(unknown))


def read_elements(field: str, raw: msgspec.Raw, *, most: int) -> list[msgspec.Raw]:
    """The elements of a JSON array, each still raw. Raise `InputErrors` when there are more than `most`."""
    try:
        # Only objects can be right; counting them costs a fraction of what keeping them does.
        count = len(_objects(raw)) if _commas(raw) >= most else 0
        elements = _elements(raw) if count <= most else []
    except msgspec.ValidationError as error:
        if "`array`" in str(error):
            raise invalid(field, f"must be an array, not {_kind_of_raw(memoryview(raw))}") from None
        raise invalid(field, "has very many entries, and not all of them are objects") from None
    if (count := count or len(elements)) > most:
        raise invalid(field, f"has {count:,} entries; {most:,} are allowed in one job; split it")
    return elements


def _commas(raw: msgspec.Raw) -> int:
    view = memoryview(raw)
    return sum(bytes(view[start : start + _SMALL]).count(b",") for start in range(0, len(view), _SMALL))


def read_values(members: Mapping[str, msgspec.Raw], limits: Mapping[str, int]) -> dict[str, object]:
    """The members as Python values, each no larger than `limits` says of it, in bytes of JSON."""
    return {name: _read_value(name, raw, limits.get(name, _SMALL)) for name, raw in members.items()}


def validated[Model: BaseModel](model: type[Model], values: Mapping[str, object]) -> Model:
    """`values` as `model`; raise `InputErrors` that name every field that is wrong."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InputErrors(
            [
                LineError(line=None, field=_path(found["loc"]), message=_message(found))
                for found in error.errors(include_url=False, include_input=False)
            ]
        ) from None


def _read_value(name: str, raw: msgspec.Raw, limit: int) -> object:
    size = memoryview(raw).nbytes
    if size > limit:
        raise invalid(name, f"has {size:,} bytes; {limit:,} are allowed")
    try:
        value = _value(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise invalid(name, f"is not JSON: {why_malformed(error)}") from None
    except RecursionError:
        raise invalid(name, f"is nested deeper than {MAX_DEPTH} levels") from None
    if is_deeper(value, MAX_DEPTH):
        raise invalid(name, f"is nested deeper than {MAX_DEPTH} levels")
    return value


def _unknown(name: str, known: frozenset[str]) -> LineError:
    message = f"unknown field {short(name)}; known fields: {', '.join(sorted(known))}"
    return LineError(line=None, field=printable(name), message=message)


def _path(location: tuple[int | str, ...]) -> str:
    """`template.user`, `include[0]`. The path's parts may be names the client chose."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]":
            path += f".{printable(part)}"
    return path.removeprefix(".")


def _message(found: Any) -> str:
    """Our words where they help, else pydantic's; never with the value in them."""
    match found["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "unknown field"
        case "value_error":
            return str(found["ctx"]["error"])
        case "dict_type" | "model_type":
            return "must be an object"
        case "string_too_long":
            return f"has more than {found['ctx']['max_length']} characters"
        case "string_too_short":
            return "must not be empty"
        case "too_long":
            return f"has more than {found['ctx']['max_length']} entries"
        case _:
            return str(found["msg"]).replace("Input should be", "must be", 1)


def _kind_of_raw(raw: memoryview) -> str:
    """By its first byte; it is well-formed."""
    kinds = {b"{": "an object", b"[": "an array", b'"': "a string", b"n": "null", b"t": "a boolean"}
    return (kinds | {b"f": "a boolean"}).get(bytes(raw[:1]), "a number")

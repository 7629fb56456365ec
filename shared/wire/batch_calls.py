"""`POST /batches`: read once, bounded, checked as OpenAI checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import msgspec

from shared.domain.catalog import Endpoint
from shared.domain.ids import FileId
from shared.wire.door_requests import endpoint_of_url
from shared.wire.file_form import MOST_SECONDS, checked_seconds
from shared.wire.openai_problems import Invalid
from shared.wire.problems import printable
from shared.wire.templates import has_control_characters

# OpenAI's own limits (its Batch API reference, read 2026-11-30).
MAX_PAIRS: Final = 16
MAX_KEY: Final = 64
MAX_VALUE: Final = 512
WINDOW: Final = "24h"

_KNOWN: Final = ("input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCall:
    """`output_seconds`: how long the files of results are kept. `raw` is what the client asked for, sorted."""

    input_file: FileId
    endpoint: Endpoint
    metadata: Mapping[str, str]
    output_seconds: int
    raw: bytes


def read_batch_call(body: bytes) -> BatchCall:
    """Raise `Invalid`."""
    given = _object(body)
    for name in given:
        if name not in _KNOWN:
            raise Invalid(
                f"Unknown parameter: '{printable(name)}'.", param=printable(name), code="unknown_parameter"
            )
    file = given.get("input_file_id")
    if not isinstance(file, str) or not file:
        raise _missing("input_file_id")
    if given.get("completion_window") != WINDOW:
        raise Invalid(
            f"completion_window must be '{WINDOW}'", param="completion_window", code="invalid_value"
        )
    return BatchCall(
        input_file=FileId(file),
        endpoint=_endpoint(given.get("endpoint")),
        metadata=MappingProxyType(_metadata(given.get("metadata"))),
        output_seconds=_seconds(given.get("output_expires_after")),
        raw=msgspec.json.encode(given, order="sorted"),
    )


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Invalid("We could not parse the JSON body of your request.") from None
    if not isinstance(given, dict):
        raise Invalid("The body must be a JSON object.")
    return given


def _missing(name: str) -> Invalid:
    return Invalid(f"'{name}' is a required property", param=name, code="missing_required_parameter")


def _endpoint(given: object) -> Endpoint:
    if given is None:
        raise _missing("endpoint")
    found = endpoint_of_url(given)
    if found is None:
        known = ", ".join(endpoint.url for endpoint in Endpoint)
        raise Invalid(f"endpoint must be one of {known}", param="endpoint", code="invalid_value")
    return found


def _metadata(given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_PAIRS:
        raise _bad_metadata(f"must be an object of at most {MAX_PAIRS} pairs")
    for name, value in given.items():
        if not name or len(name) > MAX_KEY or has_control_characters(name):
            raise _bad_metadata(f"takes keys of 1 to {MAX_KEY} characters, none of them a control character")
        if not isinstance(value, str) or len(value) > MAX_VALUE or has_control_characters(value):
            raise _bad_metadata(
                f"takes strings of at most {MAX_VALUE} characters as values, none of them a control character"
            )
    return given


def _bad_metadata(what: str) -> Invalid:
    return Invalid(f"metadata {what}", param="metadata", code="invalid_value")


def _seconds(given: object) -> int:
    if given is None:
        return MOST_SECONDS
    name = "output_expires_after"
    if not isinstance(given, dict) or given.get("anchor", "created_at") != "created_at":
        raise Invalid(f"{name} takes anchor 'created_at' and seconds", param=name, code="invalid_value")
    seconds = given.get("seconds")
    return checked_seconds(seconds if type(seconds) is int else 0, name)

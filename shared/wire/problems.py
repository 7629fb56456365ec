"""What a client gets to read when something is refused: RFC 9457 problems, decided in one place.

Texts say what happened, where, and what to do next; they hold no content and no secret.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import (
    Conflict,
    GiveUp,
    IllegalMove,
    NotAdmitted,
    NotFound,
    RateLimited,
    Rejected,
    TryAgainLater,
    Unauthenticated,
)

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 100
MAX_NAME: Final = 64
INVALID_REQUEST: Final = "invalid_request"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineError:
    """`line` counts from 1; None means the body as a whole. `field` is a dotted path, None the whole line.

    `code` is what OpenAI calls it.
    """

    line: int | None
    field: str | None
    message: str
    code: str = INVALID_REQUEST


class Refused(GiveUp):
    """The caller must change what it asked for. `code` is public and never renamed."""

    status: int = 400
    code: str = INVALID_REQUEST
    title: str = "The request cannot be accepted"


class InputErrors(Refused):
    """Something in the input is wrong. Holds the first `MAX_ERRORS` errors; `total` counts all."""

    code = "invalid_input"
    title = "The input has errors"

    def __init__(self, errors: Sequence[LineError], *, total: int | None = None) -> None:
        self.errors = tuple(errors[:MAX_ERRORS])
        self.total = max(total or 0, len(errors))
        super().__init__(_summary(self.errors, self.total))


class TooLarge(Refused):
    """The body is larger than this way in takes. The text names the way that takes it."""

    status = 413
    code = "too_large"
    title = "The body is too large"


class Unusable(Refused):
    """Well-formed, and yet nothing can be made of it."""

    status = 422
    code = "unusable_combination"
    title = "The request cannot be used as it is"


class NotAvailable(Unusable):
    """Part of the contract, and not built yet."""

    code = "not_available"
    title = "This is not available yet"


class Clash(Conflict):
    """Not now, or not under this name. `code` is public and never renamed."""

    def __init__(self, message: str, *, code: str = "conflict") -> None:
        super().__init__(message)
        self.code = code


def invalid(field: str | None, message: str, *, line: int | None = None) -> InputErrors:
    """A single error."""
    return InputErrors([LineError(line=line, field=field, message=message)])


def printable(name: str, *, most: int = MAX_NAME) -> str:
    """A name a client chose, fit to be repeated: no control characters, at most `most` characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name[:most])


def short(name: str) -> str:
    """The same in quotes, with a sign that something was cut off."""
    return f"'{printable(name)}'" if len(name) <= MAX_NAME else f"'{printable(name)}...'"


_SHUT: Final = "whoever runs Postern has been told to mend its key or role; try again when that is done"


def problem(error: Exception) -> tuple[int, dict[str, object]]:
    """The HTTP status and the problem document. What we did not raise on purpose is told to nobody."""
    status, code, title, detail = _described(error)
    document: dict[str, object] = {
        "type": f"tag:postern,2026:problems/{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if isinstance(error, InputErrors):
        document["errors"] = [error_json(e) for e in error.errors]
        document["total_errors"] = error.total
    return status, document


def headers(error: Exception) -> Mapping[str, str]:
    """The headers that belong to a problem."""
    found = {"content-type": MEDIA_TYPE}
    match error:
        case Unauthenticated():
            found["www-authenticate"] = "Bearer"
        case RateLimited():
            found["retry-after"] = str(max(int(error.retry_after.total_seconds()), 1))
        case TryAgainLater():
            found["retry-after"] = "5"
        case _:
            pass
    return found


def error_json(error: LineError) -> dict[str, object]:
    """One entry of `errors`, the same in a problem and in a job."""
    return {"line": error.line, "field": error.field, "message": error.message}


def stored_error(error: LineError) -> dict[str, object]:
    """The same as it is kept with a job; `LineError(**...)` reads it."""
    return {**error_json(error), "code": error.code}


def _described(error: Exception) -> tuple[int, str, str, str]:
    match error:
        case Refused():
            return error.status, error.code, error.title, str(error)
        case Unauthenticated():
            return 401, "not_authenticated", "Credentials are missing or not valid", str(error)
        case NotFound():
            return 404, "not_found", "There is no such thing here", str(error)
        case Conflict() | IllegalMove():
            return _described_conflict(error)
        case Rejected():
            return 422, error.code, Unusable.title, str(error)
        case NotAdmitted():
            return 503, "not_admitted", "The deployment refuses the app", _SHUT
        case TryAgainLater():
            return 503, "try_again", "Something we need does not answer", "try again in a few seconds"
        case GiveUp():
            return 422, Unusable.code, Unusable.title, str(error)
        case _:
            return 500, "internal", "Something went wrong on our side", "it has been logged; try again later"


def _described_conflict(error: Conflict | IllegalMove) -> tuple[int, str, str, str]:
    title = "Not in this state"
    match error:
        case Clash():
            return 409, error.code, title, str(error)
        case IllegalMove():
            return 409, "conflict", title, str(error)
        case _:
            return 409, "conflict", title, "it was changed by another call; read it and try again"


def _summary(errors: Iterable[LineError], total: int) -> str:
    first = next(iter(errors), None)
    if first is None:
        return "the input has errors"
    place = f"line {first.line}: " if first.line is not None else ""
    name = f"{first.field}: " if first.field else ""
    rest = f" (and {total - 1} more)" if total > 1 else ""
    return f"{place}{name}{first.message}{rest}"

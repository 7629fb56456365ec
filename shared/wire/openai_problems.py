"""What a client of the OpenAI-compatible API gets to read when something is refused: OpenAI's error body."""

from typing import Final

from shared.domain.errors import NotFound
from shared.wire.problems import InputErrors, Refused, problem

_KINDS: Final = {401: "invalid_request_error", 403: "invalid_request_error", 429: "rate_limit_error"}
_CODES: Final = {401: "invalid_api_key", 404: "not_found"}


class Invalid(Refused):
    """A parameter is wrong. `param` is its name, None: none in particular; `code` is OpenAI's."""

    def __init__(self, message: str, *, param: str | None = None, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.param = param
        self.code = code


class NoSuch(NotFound):
    """There is nothing with the id that `param` gave."""

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


def openai_problem(error: Exception) -> tuple[int, dict[str, object]]:
    """The HTTP status and the body. What we did not raise on purpose is told to nobody."""
    status, told = problem(error)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return status, {
        "error": {
            "message": told["detail"],
            "type": _KINDS.get(status, kind),
            "param": _param(error),
            "code": _CODES.get(status, told["code"]),
        }
    }


def _param(error: Exception) -> str | None:
    match error:
        case Invalid() | NoSuch():
            return error.param
        case InputErrors() if error.errors and error.errors[0].field is not None:
            # Tags travel as metadata.
            field = error.errors[0].field
            return f"metadata{field.removeprefix('tags')}" if field.startswith("tags") else field
        case _:
            return None

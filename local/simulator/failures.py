"""How the simulator says no, before a dialect puts it into its own words."""

from dataclasses import dataclass
from typing import Any

type Json = dict[str, Any]


class CallRefused(Exception):
    """An HTTP answer other than 2xx. `code` is the provider's."""

    def __init__(
        self, status: int, code: str | None, message: str, *, param: str | None = None, body: object = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.body = body


@dataclass(frozen=True, slots=True, kw_only=True)
class LineFault:
    """Why a batch's input is refused. `line` counts from 1; None: it is about the whole file."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


class LineRefused(Exception):
    """Raised while reading one line; whoever counts the lines makes a `LineFault` of it."""

    def __init__(self, code: str, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param

    def at(self, line: int) -> LineFault:
        return LineFault(code=self.code, message=self.message, line=line, param=self.param)

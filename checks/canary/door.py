"""Postern's door, as any client sees it."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SECONDS_BETWEEN_LOOKS = 2.0
_CALL_SECONDS = 60


class Wrong(Exception):
    """Something is not as it should be. The text says what, and where to look."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """`base` without a slash at its end. `credential`: a key or a token, sent as bearer; empty: nobody."""

    base: str
    credential: str = field(default="", repr=False)

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Raise `Wrong` if nobody answers; whatever is answered is returned."""
        content = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        if self.credential:
            headers["authorization"] = f"Bearer {self.credential}"
        request = urllib.request.Request(f"{self.base}{path}", content, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=_CALL_SECONDS) as response:  # noqa: S310
                return Answer(response.status, _read(response.read()))
        except urllib.error.HTTPError as refused:
            with refused:
                return Answer(refused.code, _read(refused.read()))
        except (OSError, urllib.error.URLError) as error:
            raise Wrong(f"{method} {path}: {error}") from error

    def expect(self, status: int, method: str, path: str, body: object = None) -> Any:
        """The body of an answer with that status; `Wrong` for any other."""
        answer = self.call(method, path, body)
        if answer.status != status:
            raise Wrong(f"{method} {path} answers {answer.status}, not {status}: {str(answer.body)[:500]}")
        return answer.body


def until[Seen](what: str, look: Callable[[], Seen | None], *, seconds: float) -> Seen:
    """What `look` sees, as soon as it sees something; `Wrong` when it has not after `seconds`."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while (seen := look()) is None:
        if time.monotonic() >= deadline:
            raise Wrong(f"{what}: not seen within {seconds:.0f} seconds")
        pause.wait(SECONDS_BETWEEN_LOOKS)
    return seen


def _read(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content[:500].decode(errors="replace")

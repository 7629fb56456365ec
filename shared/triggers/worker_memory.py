"""Keeps the worker library from remembering every request it has served.

Its HTTP coordinator holds about 2 kB for each request for ever, which fills an instance that is polled for
days. What is dropped here is only what has been answered; a version of the library that forgets by itself,
or is built otherwise, is left alone.
"""

import sys
from typing import Final

_COORDINATOR: Final = "azure_functions_runtime.http_v2"
# Looking through the references costs something, so it is not done at every request.
EVERY: Final = 64


class AnsweredRequests:
    def __init__(self) -> None:
        self._served = 0

    def forget(self) -> int:
        """Called once by every HTTP function; how many answered requests were dropped."""
        self._served += 1
        return _forget_answered() if self._served % EVERY == 0 else 0


answered: Final = AnsweredRequests()


def _forget_answered() -> int:
    coordinator = getattr(sys.modules.get(_COORDINATOR), "http_coordinator", None)
    references = getattr(coordinator, "_context_references", None)
    if not isinstance(references, dict):
        return 0
    answered = [name for name, reference in references.items() if _is_answered(reference)]
    for name in answered:
        references.pop(name, None)
    return len(answered)


def _is_answered(reference: object) -> bool:
    """An answer was given to it and has been fetched."""
    given = getattr(reference, "http_response_available_event", None)
    fetched = getattr(reference, "http_response", ...) is None
    return fetched and given is not None and bool(given.is_set())

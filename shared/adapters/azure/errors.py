"""SDK errors in our words, by status and code alone: prose is for humans, and it changes."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from enum import Enum

from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError

from shared.domain.errors import Conflict, GiveUp, NotAdmitted, NotFound, PosternError, TryAgainLater

# The service is about to be ready, or a second writer discarded our uncommitted blocks.
_TRANSIENT_CODES = frozenset(
    {"ContainerBeingDeleted", "TableBeingDeleted", "PendingCopyOperation", "InvalidBlockList"}
)
_TRANSIENT_STATUSES = frozenset({408, 429})


@contextmanager
def azure_errors(what: str) -> Iterator[None]:
    """Raise our errors in place of the SDK's. `what` names the object, without content or secrets."""
    try:
        yield
    except AzureError as exc:
        error = to_error(exc, what)
        # An answer to bad credentials quotes the signature that was sent: keep it out of tracebacks.
        raise error from (None if isinstance(error, NotAdmitted) else exc)


async def translate_each[Item](items: AsyncIterator[Item], what: str) -> AsyncIterator[Item]:
    """The items of an SDK's iterator, its errors translated as by `azure_errors`."""
    while True:
        with azure_errors(what):
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
        yield item


def to_error(exc: AzureError, what: str) -> PosternError:
    status = exc.status_code if isinstance(exc, HttpResponseError) else None
    code = code_of(exc)
    reason = f"{status or type(exc).__name__} {code}".strip()
    if isinstance(exc, ClientAuthenticationError) or status in (401, 403):
        return NotAdmitted(f"{what}: access refused ({reason}); check the identity's roles or the key")
    if status is None or status < 400 or status >= 500:
        return TryAgainLater(f"{what}: no good answer ({reason})")
    if code in _TRANSIENT_CODES or status in _TRANSIENT_STATUSES:
        return TryAgainLater(f"{what}: not now ({reason})")
    if status == 404:
        return NotFound(f"{what}: not there ({reason})")
    if status in (409, 412):
        return Conflict(f"{what}: taken or changed ({reason})")
    return GiveUp(f"{what}: refused ({reason})")


def code_of(exc: AzureError) -> str:
    """The service's own code, or nothing."""
    code = getattr(exc, "error_code", None)
    return str(code.value if isinstance(code, Enum) else code or "")

"""What the `openai` SDK raises, told in our words: by status and code alone, for prose changes.

Nothing of the SDK's exception travels on: its text may quote the request or part of a key.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import httpx2
import msgspec
import openai

from shared.adapters.providers._codes import code_name
from shared.adapters.providers._retry_after import retry_after
from shared.domain.errors import (
    NoCapacity,
    NotAdmitted,
    NotFound,
    PosternError,
    RateLimited,
    Rejected,
    TryAgainLater,
    Unknowable,
)
from shared.ports.clock import Clock

# `quotaExceeded`: no room for another file. Like a full queue it passes, and nothing ran.
_NO_CAPACITY: Final = frozenset({"token_limit_exceeded", "quotaexceeded"})
_BILLING: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"}
)
_NOT_ADMITTED: Final = frozenset({401, 402, 403, 407})

# Raised before anything was sent: whatever the call does, it has not been done.
_NEVER_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked, for the message. `has_effect`: without an answer nobody knows whether it happened."""

    name: str
    has_effect: bool = False


@contextmanager
def translated(call: Call, clock: Clock) -> Iterator[None]:
    """Raise ours for whatever the SDK raises inside."""
    try:
        yield
    except openai.APIStatusError as fault:
        raise _from_status(call, fault, clock) from None
    except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as fault:
        raise _without_answer(call, fault) from None
    except msgspec.MsgspecError:
        raise _lost(call, "the answer was not what this call answers") from None


def _from_status(call: Call, fault: openai.APIStatusError, clock: Clock) -> PosternError:
    status, code = fault.status_code, code_name(fault.code) or code_name(fault.type)
    said = f"{call.name} was answered with {status} {code or ''}".rstrip()
    if (code or "").lower() in _NO_CAPACITY:
        return NoCapacity(f"{said}: the provider has no room for it at present")
    if status in _NOT_ADMITTED or code in _BILLING:
        return NotAdmitted(f"{said}: check the key or identity of the deployment, its roles and its billing")
    if status == 429:
        return RateLimited(said, retry_after=retry_after(fault.response.headers, now=clock.now()))
    if status == 404 and not _names_a_model(code):
        return NotFound(said)
    if status >= 500 or status == 408:
        return _lost(call, f"the answer was {status}")
    if status in (409, 425):
        return TryAgainLater(said)
    return Rejected(said, code=code or "invalid_request")


def _without_answer(call: Call, fault: Exception) -> PosternError:
    if isinstance(fault, _NEVER_SENT) or isinstance(fault.__cause__, _NEVER_SENT):
        return TryAgainLater(f"{call.name}: no connection to the provider")
    return _lost(call, f"no answer ({type(fault).__name__})")


def _lost(call: Call, why: str) -> TryAgainLater:
    kind = Unknowable if call.has_effect else TryAgainLater
    return kind(f"{call.name}: {why}")


def _names_a_model(code: str | None) -> bool:
    """`DeploymentNotFound`, `model_not_found`: not the object, but what should serve it."""
    return code is not None and ("deployment" in code.lower() or "model" in code.lower())

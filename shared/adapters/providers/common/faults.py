"""What a provider's refusal means, whatever the SDK that told it: by status and code alone, for prose changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import httpx2

from shared.adapters.providers.common.retry_after import retry_after
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


def from_status(
    call: Call, status: int, code: str | None, headers: Mapping[str, str], *, now: datetime
) -> PosternError:
    """`headers` finds names in lower case."""
    said = f"{call.name} was answered with {status} {code or ''}".rstrip()
    if (code or "").lower() in _NO_CAPACITY:
        return NoCapacity(f"{said}: the provider has no room for it at present")
    if status in _NOT_ADMITTED or code in _BILLING:
        return NotAdmitted(f"{said}: check the key or identity of the deployment, its roles and its billing")
    if status == 429:
        return RateLimited(said, retry_after=retry_after(headers, now=now))
    if status == 404 and not _names_a_model(code):
        return NotFound(said)
    if status >= 500 or status == 408:
        return lost(call, f"the answer was {status}")
    if status in (409, 425):
        return TryAgainLater(said)
    return Rejected(said, code=code or "invalid_request")


def without_answer(call: Call, fault: Exception) -> PosternError:
    if isinstance(fault, _NEVER_SENT) or isinstance(fault.__cause__, _NEVER_SENT):
        return TryAgainLater(f"{call.name}: no connection to the provider")
    return lost(call, f"no answer ({type(fault).__name__})")


def lost(call: Call, why: str) -> TryAgainLater:
    """Nobody knows what became of a call that has an effect."""
    kind = Unknowable if call.has_effect else TryAgainLater
    return kind(f"{call.name}: {why}")


def _names_a_model(code: str | None) -> bool:
    """`DeploymentNotFound`, `model_not_found`: not the object, but what should serve it."""
    return code is not None and ("deployment" in code.lower() or "model" in code.lower())

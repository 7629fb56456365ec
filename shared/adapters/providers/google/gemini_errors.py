"""What Google complains about, over HTTP, in rows and of whole jobs, and what its SDKs raise, in our words."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp
import httpx2
import msgspec
import pydantic
from google.auth.exceptions import GoogleAuthError
from google.genai import errors
from msgspec import Raw, Struct

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.common.faults import Call, from_status, lost, without_answer
from shared.domain.errors import NoCapacity, NotAdmitted, PosternError, TryAgainLater
from shared.domain.rows import MAX_MESSAGE
from shared.ports.clock import Clock

# Google's words to those that results have, whoever the provider was.
_CODES: Final = {"INVALID_ARGUMENT": "invalid_request", "FAILED_PRECONDITION": "failed_precondition"}
# Told as INVALID_ARGUMENT like everything else that is wrong with a request.
_TOO_LONG: Final = re.compile(r"token count .{0,80}exceeds the maximum", re.IGNORECASE | re.DOTALL)
# 429 of a create: so many jobs, or so much work, are enqueued.
_EXHAUSTED: Final = "RESOURCE_EXHAUSTED"


class _Error(Struct, gc=False):
    code: object = None
    message: object = None
    status: object = None


class _Envelope(Struct, gc=False):
    error: _Error


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """`status` is an HTTP status; None, as everywhere: not told."""

    status: int | None
    code: str | None
    message: str | None


_read: Final = msgspec.json.Decoder(_Envelope | list[_Envelope]).decode


def read_complaint(content: bytes | Raw | str) -> Complaint:
    """Raise `msgspec.MsgspecError` for what is no error of Google's."""
    told = _read(content)
    error = (told[0] if isinstance(told, list) else told).error if told else _Error()
    text = error.message.strip() if isinstance(error.message, str) else ""
    code = code_name(error.status)
    if code == "INVALID_ARGUMENT" and _TOO_LONG.search(text):
        code = "context_length_exceeded"
    return Complaint(
        status=error.code if isinstance(error.code, int) else None,
        code=_CODES.get(code or "", code),
        message=text[:MAX_MESSAGE] or None,
    )


@contextmanager
def translated(call: Call, clock: Clock) -> Iterator[None]:
    """Raise ours for whatever the SDKs raise inside. Nothing of their text travels on."""
    try:
        yield
    except errors.APIError as fault:
        headers = {**_waits(fault.details), **(getattr(fault.response, "headers", None) or {})}
        raise _from_status(call, fault.code, fault.status, headers, clock) from None
    except aiohttp.ClientResponseError as fault:
        raise _from_status(call, fault.status, None, fault.headers or {}, clock) from None
    except GoogleAuthError as fault:
        raise _from_credentials(call, fault) from None
    except aiohttp.ClientConnectorError:
        raise TryAgainLater(f"{call.name}: no connection to the provider") from None
    except (aiohttp.ClientError, httpx2.HTTPError, TimeoutError, asyncio.IncompleteReadError) as fault:
        raise without_answer(call, fault) from None
    except (msgspec.MsgspecError, pydantic.ValidationError, ValueError, KeyError):
        raise lost(call, "the answer was not what this call answers") from None


def _from_status(
    call: Call, status: int, code: object, headers: Mapping[str, str], clock: Clock
) -> PosternError:
    named = code_name(code)
    if call.has_effect and named == _EXHAUSTED:
        return NoCapacity(f"{call.name} was answered with {status} {named}: the provider has no room for it")
    lower = {name.lower(): value for name, value in headers.items()}
    return from_status(call, status, _CODES.get(named or "", named), lower, now=clock.now())


def _waits(details: object) -> Mapping[str, str]:
    """Google says how long to wait in the body: a `RetryInfo` with `retryDelay`, as "12.5s"."""
    error = details.get("error") if isinstance(details, dict) else None
    told = error.get("details") if isinstance(error, dict) else None
    for detail in told if isinstance(told, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return {"retry-after": delay.removesuffix("s")}
    return {}


def _from_credentials(call: Call, fault: GoogleAuthError) -> PosternError:
    """Before anything was sent."""
    if fault.retryable:
        return TryAgainLater(f"{call.name}: no token to be had at present ({type(fault).__name__})")
    return NotAdmitted(f"{call.name}: Google gives no token for these credentials; check the key_setting")

"""What the `mistralai` SDK raises, told in our words.

Nothing of the SDK's exception travels on: its text is the answer's body, which quotes the request.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import httpx2
from mistralai.client.errors import MistralError, NoResponseError, ResponseValidationError

from shared.adapters.providers.common.faults import Call, from_status, lost, without_answer
from shared.adapters.providers.mistral.rows import complaint
from shared.ports.clock import Clock

_INVALID: Final = 422


@contextmanager
def translated(call: Call, clock: Clock) -> Iterator[None]:
    """Raise ours for whatever the SDK raises inside."""
    try:
        yield
    except ResponseValidationError:
        raise lost(call, "the answer was not what this call answers") from None
    except MistralError as fault:
        if fault.status_code < 400:
            raise lost(call, "the answer was not what this call answers") from None
        code = _code(fault)
        raise from_status(call, fault.status_code, code, fault.headers, now=clock.now()) from None
    except (NoResponseError, httpx2.HTTPError, TimeoutError) as fault:
        raise without_answer(call, fault) from None


def _code(fault: MistralError) -> str | None:
    code, _ = complaint(fault.body.encode("utf-8", "replace"))
    return code or ("invalid_request" if fault.status_code == _INVALID else None)

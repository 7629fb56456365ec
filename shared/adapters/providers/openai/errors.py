"""What the `openai` SDK raises, told in our words.

Nothing of the SDK's exception travels on: its text may quote the request or part of a key.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import msgspec
import openai

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.common.faults import Call, from_status, lost, without_answer
from shared.ports.clock import Clock

__all__ = ["Call", "translated"]


@contextmanager
def translated(call: Call, clock: Clock) -> Iterator[None]:
    """Raise ours for whatever the SDK raises inside."""
    try:
        yield
    except openai.APIStatusError as fault:
        code = code_name(fault.code) or code_name(fault.type)
        headers, now = fault.response.headers, clock.now()
        raise from_status(call, fault.status_code, code, headers, now=now) from None
    except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as fault:
        raise without_answer(call, fault) from None
    except msgspec.MsgspecError:
        raise lost(call, "the answer was not what this call answers") from None

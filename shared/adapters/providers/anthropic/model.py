"""Claude answering at once, through the `anthropic` SDK."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

import anthropic
import httpx2
import msgspec

from shared.adapters.providers.anthropic.answers import read_error, read_message
from shared.adapters.providers.anthropic.asked import Translator
from shared.adapters.providers.anthropic.errors import translated
from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.catalog import Endpoint
from shared.domain.errors import NotAdmitted, NotFound, Rejected
from shared.domain.ids import RequestKey
from shared.domain.rows import Row, RowKind
from shared.ports.clock import Clock
from shared.ports.models import Question

# The longest an answer may take, first byte or last. Reasoning over a long document takes a minute or two.
TIMEOUT: Final = timedelta(seconds=150)

_CALL: Final = Call(name="a question to the model")
_NO_KEY: Final = RequestKey("-")


class AnthropicModel:
    """One deployment. The client must not retry: patience is the caller's."""

    def __init__(
        self,
        *,
        client: anthropic.AsyncAnthropic,
        translator: Translator,
        clock: Clock,
        timeout: timedelta = TIMEOUT,
    ) -> None:
        self._client = client
        self._translator = translator
        self._clock = clock
        self._timeout = timeout.total_seconds()

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, question: Question) -> Row:
        try:
            params = self._translator.params(question.endpoint, question.body)
        except Unaskable as unaskable:
            return Row(
                key=None, kind=RowKind.ERROR, status=400, code="invalid_request", message=str(unaskable)
            )
        refusal: httpx2.Response | None = None
        try:
            with translated(_CALL, self._clock):
                try:
                    return _row(question.endpoint, await self._post(params, question))
                except anthropic.APIStatusError as fault:
                    refusal = fault.response
                    raise
        except (NotFound, Rejected):
            if refusal is None:
                raise
        if refusal.status_code == 404:
            # Not the question was wrong, but where it was sent.
            raise NotAdmitted(
                f"{_CALL.name} was answered with 404: check the deployment's model and base_url"
            )
        return _complaint(refusal)

    async def _post(self, params: Mapping[str, object], question: Question) -> httpx2.Response:
        # The SDK's timeout starts anew with every byte; whoever waits for the answer holds a lease.
        async with asyncio.timeout(self._timeout):
            return await self._client.post(
                "/v1/messages",
                cast_to=httpx2.Response,
                body=params,
                options={
                    "headers": {
                        "x-tenant-id": question.tenant,
                        "x-correlation-id": question.correlation_id,
                    }
                },
            )


def _row(endpoint: Endpoint, answer: httpx2.Response) -> Row:
    try:
        return replace(read_message(endpoint, _NO_KEY, answer.content), key=None)
    except (msgspec.MsgspecError, RecursionError) as fault:
        return Row(key=None, kind=RowKind.UNREADABLE, message=f"the answer could not be read: {fault}"[:500])


def _complaint(refusal: httpx2.Response) -> Row:
    try:
        return read_error(None, refusal.content, status=refusal.status_code)
    except msgspec.MsgspecError:
        return Row(key=None, kind=RowKind.ERROR, status=refusal.status_code)

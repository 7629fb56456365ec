"""A model that answers at once, of every service that speaks OpenAI's calls, through the `openai` SDK."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Final

import httpx2
import openai

from shared.adapters.providers._errors import Call, translated
from shared.adapters.providers._openai_lines import one_line, read_row
from shared.domain.catalog import Endpoint
from shared.domain.errors import NotAdmitted, NotFound, Rejected
from shared.domain.rows import Row
from shared.ports.clock import Clock
from shared.ports.models import Question

# The longest an answer may take, first byte or last. Reasoning over a long document takes a minute or two.
TIMEOUT: Final = timedelta(seconds=150)

_PATHS: Final = {
    Endpoint.CHAT: "/chat/completions",
    Endpoint.RESPONSES: "/responses",
    Endpoint.EMBEDDINGS: "/embeddings",
}
_CALL: Final = Call(name="a question to the model")


class OpenAIModel:
    """One deployment. The client must not retry: patience is the caller's."""

    def __init__(
        self, *, client: openai.AsyncOpenAI, model: str, clock: Clock, timeout: timedelta = TIMEOUT
    ) -> None:
        self._client = client
        self._model = model
        self._clock = clock
        self._timeout = timeout.total_seconds()

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, question: Question) -> Row:
        refusal: httpx2.Response | None = None
        try:
            with translated(_CALL, self._clock):
                try:
                    return _row(question.endpoint, await self._post(question))
                except openai.APIStatusError as fault:
                    refusal = fault.response
                    raise
        except (NotFound, Rejected):
            if refusal is None:
                raise
        if refusal.status_code == 404:
            # Not the question was wrong, but where it was sent.
            raise NotAdmitted(f"{_CALL.name} was answered with 404: check the deployment's name and endpoint")
        return _row(question.endpoint, refusal)

    async def _post(self, question: Question) -> httpx2.Response:
        # The SDK's timeout starts anew with every byte; whoever waits for the answer holds a lease.
        async with asyncio.timeout(self._timeout):
            return await self._client.post(
                _PATHS[question.endpoint],
                cast_to=httpx2.Response,
                body={**question.body, "model": self._model},
                options={"headers": _headers(question)},
            )


def _headers(question: Question) -> Mapping[str, str]:
    return {"x-tenant-id": question.tenant, "x-correlation-id": question.correlation_id}


def _row(endpoint: Endpoint, answer: httpx2.Response) -> Row:
    """As the batch's line would be read that holds this answer: one reading for both lanes."""
    body = one_line(answer.content)
    line = b'{"custom_id":"-","response":{"status_code":%d,"body":%b}}' % (answer.status_code, body)
    return replace(read_row(endpoint, line), key=None)

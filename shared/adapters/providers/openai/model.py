"""A model that answers at once, of every service that speaks OpenAI's calls, through the `openai` SDK."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Final

import httpx2
import msgspec
import openai

from shared.adapters.providers.openai.errors import Call, translated
from shared.adapters.providers.openai.lines import one_line, read_row
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
_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})
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
        body = {**question.body, "model": self._model}
        answer = await self.answer(question.endpoint, body, _headers(question))
        return replace(read_row(question.endpoint, line_of("-", answer)), key=None)

    async def answer(
        self, endpoint: Endpoint, body: Mapping[str, object], headers: Mapping[str, str] = _NO_HEADERS
    ) -> httpx2.Response:
        """The answer as it came, or the complaint about the request (4xx). Raises what `ask` raises."""
        refusal: httpx2.Response | None = None
        try:
            with translated(_CALL, self._clock):
                try:
                    return await self._post(endpoint, body, headers)
                except openai.APIStatusError as fault:
                    refusal = fault.response
                    raise
        except (NotFound, Rejected):
            if refusal is None:
                raise
        if refusal.status_code == 404:
            # Not the question was wrong, but where it was sent.
            raise NotAdmitted(f"{_CALL.name} was answered with 404: check the deployment's name and endpoint")
        return refusal

    async def _post(
        self, endpoint: Endpoint, body: Mapping[str, object], headers: Mapping[str, str]
    ) -> httpx2.Response:
        # The SDK's timeout starts anew with every byte; whoever waits for the answer holds a lease.
        async with asyncio.timeout(self._timeout):
            return await self._client.post(
                _PATHS[endpoint], cast_to=httpx2.Response, body=body, options={"headers": headers}
            )


def _headers(question: Question) -> Mapping[str, str]:
    return {"x-tenant-id": question.tenant, "x-correlation-id": question.correlation_id}


def line_of(key: str, answer: httpx2.Response) -> bytes:
    """The batch's line that would hold this answer, without its end: one reading for both lanes."""
    name, body = msgspec.json.encode(key), one_line(answer.content)
    return b'{"custom_id":%b,"response":{"status_code":%d,"body":%b}}' % (name, answer.status_code, body)

"""A Gemini model that answers at once, through `google-genai`."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import msgspec
from google.genai import errors, types

from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.google.gemini_answers import read_answer
from shared.adapters.providers.google.gemini_client import GeminiClient
from shared.adapters.providers.google.gemini_errors import read_complaint, translated
from shared.adapters.providers.google.gemini_requests import Body, write_request
from shared.adapters.providers.openai.lines import guarded
from shared.adapters.providers.openai.model import TIMEOUT
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.errors import NotAdmitted, NotFound, Rejected
from shared.domain.ids import RequestKey
from shared.domain.rows import Row, RowKind
from shared.ports.clock import Clock
from shared.ports.models import Question

_CALL: Final = Call(name="a question to the model")
_NOBODY: Final = RequestKey("-")


class GeminiModel:
    """One deployment. Patience is the caller's."""

    def __init__(
        self, *, client: GeminiClient, model: str, clock: Clock, timeout: timedelta = TIMEOUT
    ) -> None:
        self._client = client
        self._model = model
        self._clock = clock
        self._timeout = timeout.total_seconds()

    async def close(self) -> None:
        await self._client.close()

    async def ask(self, question: Question) -> Row:
        try:
            request = write_request(self._model, question.endpoint, question.body)
        except Unaskable as unaskable:
            return Row(
                key=None, kind=RowKind.ERROR, status=400, code="invalid_request", message=str(unaskable)
            )
        refusal: errors.APIError | None = None
        try:
            with translated(_CALL, self._clock):
                try:
                    content = await self._post(question, request)
                except errors.APIError as fault:
                    refusal = fault
                    raise
        except NotFound:
            # Not the question was wrong, but where it was sent.
            raise NotAdmitted(
                f"{_CALL.name} was answered with 404: check the deployment's model, project and location"
            ) from None
        except Rejected as rejected:
            return _refused(rejected, refusal)
        row = guarded(content, lambda clean: read_answer(question.endpoint, _NOBODY, clean))
        return replace(row, key=None)

    async def _post(self, question: Question, request: Body) -> bytes:
        """The answer as it came: the SDK's own reading of it would lose what it does not know."""
        client = await self._client.ready()
        config = types.GenerateContentConfig(
            should_return_http_response=True,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            http_options=types.HttpOptions(
                headers={"x-tenant-id": question.tenant, "x-correlation-id": question.correlation_id},
                # All of it, as the line of a batch would have it.
                extra_body=request,
            ),
        )
        async with asyncio.timeout(self._timeout):
            answer: Any = await client.models.generate_content(model=self._model, contents="-", config=config)
        return (answer.sdk_http_response.body or "").encode()


def _refused(rejected: Rejected, refusal: errors.APIError | None) -> Row:
    status = refusal.code if refusal else 400
    try:
        complaint = read_complaint(msgspec.json.encode(refusal.details if refusal else {}))
    except msgspec.MsgspecError:
        return Row(key=None, kind=RowKind.ERROR, status=status, code=rejected.code)
    return Row(
        key=None,
        kind=RowKind.ERROR,
        status=status,
        code=complaint.code or rejected.code,
        message=complaint.message,
    )

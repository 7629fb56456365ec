"""Models behind Mistral's chat completions and embeddings, through the `mistralai` SDK."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import httpx2
import msgspec
from mistralai.client import Mistral
from mistralai.client.errors import MistralError
from pydantic import ValidationError

from shared.adapters.providers.common.faults import Call
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.mistral.batches import client_of, close
from shared.adapters.providers.mistral.bodies import mistral_body
from shared.adapters.providers.mistral.errors import translated
from shared.adapters.providers.mistral.rows import read_row
from shared.adapters.providers.openai.lines import CONTENT_FILTER, one_line
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import NotAdmitted, NotFound, PosternError, Rejected
from shared.domain.rows import MAX_MESSAGE, Row, RowKind
from shared.ports.clock import Clock
from shared.ports.models import Question

# The longest an answer may take, first byte or last.
TIMEOUT: Final = timedelta(seconds=150)

_CALL: Final = Call(name="a question to the model")
_encode: Final = msgspec.json.Encoder().encode


# The SDK hands out what it has understood of an answer; what came stands here for the call under way.
_ANSWERS: Final[ContextVar[list[bytes]]] = ContextVar("answers")


def connect(deployment: Deployment, connection: Connection) -> "MistralModel":
    http = httpx2.AsyncClient(follow_redirects=True, event_hooks={"response": [_keep_answer]})
    client = client_of(deployment, connection, timeout=TIMEOUT, http=http)
    return MistralModel(client=client, http=http, model=deployment.deployment, clock=connection.clock)


class MistralModel:
    """One deployment. The client must not retry: patience is the caller's."""

    def __init__(
        self,
        *,
        client: Mistral,
        http: httpx2.AsyncClient,
        model: str,
        clock: Clock,
        timeout: timedelta = TIMEOUT,
    ) -> None:
        self._client = client
        self._http = http
        self._model = model
        self._clock = clock
        self._timeout = timeout.total_seconds()

    async def close(self) -> None:
        await close(self._client)
        await self._http.aclose()

    async def ask(self, question: Question) -> Row:
        try:
            body = mistral_body(question.endpoint, question.body)
        except Unaskable as unaskable:
            return _unasked(str(unaskable))
        refusal: MistralError | None = None
        try:
            with translated(_CALL, self._clock):
                try:
                    answer = await self._post(question, body)
                except MistralError as fault:
                    refusal = fault
                    raise
        except ValidationError as unfit:
            # The SDK looks at a body before it sends it.
            return _unasked(f"{unfit.error_count()} fields of the request are not what Mistral takes")
        except PosternError as error:
            if refusal is None or not (row := _row_of(question.endpoint, refusal, error)):
                raise
            return row
        return _row(question.endpoint, 200, one_line(answer))

    async def _post(self, question: Question, body: Mapping[str, Any]) -> bytes:
        """The answer as JSON. Headers say for whom, and why."""
        headers = {"x-tenant-id": question.tenant, "x-correlation-id": question.correlation_id}
        # The SDK's timeout starts anew with every byte; whoever waits for the answer holds a lease.
        async with asyncio.timeout(self._timeout):
            with _kept_answers() as answers:
                if question.endpoint is Endpoint.EMBEDDINGS:
                    rest = {"inputs" if name == "input" else name: value for name, value in body.items()}
                    await self._client.embeddings.create_async(
                        model=self._model, http_headers=headers, **rest
                    )
                else:
                    await self._client.chat.complete_async(model=self._model, http_headers=headers, **body)
        return answers[-1]


@contextmanager
def _kept_answers() -> Iterator[list[bytes]]:
    answers = list[bytes]()
    token = _ANSWERS.set(answers)
    try:
        yield answers
    finally:
        _ANSWERS.reset(token)


async def _keep_answer(response: httpx2.Response) -> None:
    _ANSWERS.get([]).append(await response.aread())


def _row_of(endpoint: Endpoint, fault: MistralError, error: PosternError) -> Row | None:
    """A complaint about the question is a row, and so is an answer nobody can read. None: neither."""
    if fault.status_code < 400:
        # What the SDK cannot make sense of, our own reading may.
        return _row(endpoint, fault.status_code, one_line(fault.body.encode("utf-8", "replace")))
    row = _row(endpoint, fault.status_code, _encode(fault.body))
    if row.code == CONTENT_FILTER:
        return row
    if isinstance(error, NotFound):
        # Not the question was wrong, but where it was sent.
        raise NotAdmitted(f"{_CALL.name} was answered with 404: check the model and the address") from None
    return row if isinstance(error, Rejected) else None


def _row(endpoint: Endpoint, status: int, body: bytes) -> Row:
    """As the batch's line would be read that holds this answer: one reading for both lanes."""
    line = b'{"custom_id":"-","response":{"status_code":%d,"body":%b}}' % (status, body)
    return replace(read_row(endpoint, line), key=None)


def _unasked(why: str) -> Row:
    """Refused before it was sent, as the model would refuse it."""
    return Row(
        key=None,
        kind=RowKind.ERROR,
        status=400,
        code="invalid_request",
        message=why[:MAX_MESSAGE],
    )

"""A model in memory that answers at once, or late, or not at all, as a test wishes."""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from shared.adapters.memory.provider_rows import Fate
from shared.domain.catalog import Deployment, Endpoint
from shared.domain.errors import PosternError, RateLimited, TryAgainLater
from shared.domain.ids import DeploymentName
from shared.domain.rows import Finish, Row, RowKind
from shared.domain.usage import Usage
from shared.ports.clock import Sleep
from shared.ports.models import Question


async def _no_sleep(seconds: float) -> None:
    assert seconds >= 0


@dataclass(slots=True)
class Manners:
    """How a model behaves until a test changes it.

    `answer` sees the user's words, `fates` are looked for in the whole body. `faults` are raised by the next
    calls, one each. `latency` is slept through by `sleep` before anything else happens.
    """

    answer: Callable[[str], str] = lambda words: f"answer {len(words)}"
    fates: dict[str, Fate] = field(default_factory=dict)
    faults: deque[PosternError] = field(default_factory=deque)
    latency: timedelta = timedelta(0)
    retry_after: timedelta = timedelta(seconds=30)
    sleep: Sleep = _no_sleep

    def fate(self, text: str) -> Fate:
        return next((fate for part, fate in self.fates.items() if part in text), Fate.SUCCESS)


class MemoryModel:
    """One deployment. `asked` holds every question that reached it, `in_flight` those not answered yet."""

    def __init__(self, manners: Manners | None = None) -> None:
        self.manners = manners or Manners()
        self.asked: list[Question] = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def ask(self, question: Question) -> Row:
        self.asked.append(question)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.manners.sleep(self.manners.latency.total_seconds())
            return self._answer(question)
        finally:
            self.in_flight -= 1

    def _answer(self, question: Question) -> Row:
        if self.manners.faults:
            raise self.manners.faults.popleft()
        fate = self.manners.fate(json.dumps(question.body, ensure_ascii=False))
        match fate:
            case Fate.ERROR | Fate.MISSING:
                raise TryAgainLater("ask: the answer was 500")
            case Fate.RATE_LIMITED:
                raise RateLimited("ask was answered with 429", retry_after=self.manners.retry_after)
            case Fate.MALFORMED:
                return Row(key=None, kind=RowKind.UNREADABLE, message="the row could not be read")
            case Fate.CONTENT_FILTER:
                return _error("content_filter")
            case Fate.REJECTED:
                return _error("invalid_request")
            case _ if question.endpoint is Endpoint.EMBEDDINGS:
                return _embedding(question)
            case _:
                return self._chat(question, fate)

    def _chat(self, question: Question, fate: Fate) -> Row:
        words = _words(question)
        text = self.manners.answer(words)
        if fate is Fate.INVALID_JSON:
            text = "{" + text
        refusal = "I cannot help with that." if fate is Fate.REFUSAL else None
        finish = {Fate.TRUNCATED: Finish.LENGTH, Fate.FILTERED: Finish.CONTENT_FILTER}.get(fate, Finish.STOP)
        usage = Usage(uncached_input=_tokens(json.dumps(question.body)), output=_tokens(text))
        return Row(
            key=None,
            kind=RowKind.ANSWER,
            status=200,
            text=None if refusal else text,
            output=None if refusal else msgspec.json.encode(text),
            refusal=refusal,
            finish=finish,
            usage=usage,
            body=msgspec.json.encode({"object": "chat.completion"}),
        )


class MemoryModels:
    """A `MemoryModel` for every deployment, made when it is first asked for."""

    def __init__(self) -> None:
        self.by_deployment: dict[DeploymentName, MemoryModel] = {}

    def of(self, name: str) -> MemoryModel:
        return self.by_deployment.setdefault(DeploymentName(name), MemoryModel())

    def model(self, deployment: Deployment) -> MemoryModel:
        return self.of(deployment.name)


def _words(question: Question) -> str:
    """What the last message says."""
    messages = question.body.get("messages")
    if isinstance(messages, list) and messages:
        return str(messages[-1]["content"])
    return str(question.body.get("input", ""))


def _embedding(question: Question) -> Row:
    given = question.body["input"]
    texts = [str(text) for text in given] if isinstance(given, list) else [str(given)]
    vectors = [[float(len(text)), 0.5] for text in texts]
    return Row(
        key=None,
        kind=RowKind.ANSWER,
        status=200,
        output=msgspec.json.encode(vectors if len(vectors) > 1 else vectors[0]),
        usage=Usage(uncached_input=sum(map(_tokens, texts))),
        body=b"{}",
    )


def _error(code: str) -> Row:
    return Row(key=None, kind=RowKind.ERROR, status=400, code=code, message="refused")


def _tokens(text: str) -> int:
    return len(text) // 4 + 1

"""Asking models on behalf of one task: where, with how much patience, and what it has cost so far."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.domain.catalog import Deployment, Endpoint, Lane, Tenant
from shared.domain.errors import Deferred, NotAdmitted, RateLimited, TryAgainLater
from shared.domain.rows import Again, CheckAnswer, Judgement, Row, RowKind, judge
from shared.domain.tasks import TaskOrder
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage
from shared.ports.models import Models, Question
from shared.ports.prices import Prices
from shared.ports.tokens import Tokens
from shared.services.pace.gate import INFRASTRUCTURE, Gate, Shut
from shared.services.pace.pace import Pace
from shared.services.tasks.prompts import repair_of
from shared.wire.door_shape import TOKEN_LIMITS
from shared.wire.prompts import prompt_text

RATE_LIMITED: Final = "rate_limited"
# What an answer is expected to take where nobody has set a limit.
UNTOLD_OUTPUT: Final = 1_000
# Roles and separators of a chat, which are no text.
_WRAPPING: Final = 50
# Counting more than this holds up everybody else on the loop.
MUCH_TEXT: Final = 200_000
_MOST_LIMITS: Final = 3
_AFTER_A_FAULT: Final = timedelta(seconds=5)


# Tells an operator that a deployment does not let us in. It may be told often.
Alarm = Callable[[Deployment, NotAdmitted], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """How models are reached, and what that costs."""

    models: Models
    prices: Prices
    tokens: Tokens
    pace: Pace
    alarm: Alarm

    async def count(self, model: str, texts: Sequence[str]) -> list[int]:
        if sum(map(len, texts)) < MUCH_TEXT:
            return self.tokens.count(model, texts)
        return await asyncio.to_thread(self.tokens.count, model, texts)


@dataclass(slots=True, kw_only=True)
class Asking:
    """One task's questions. `deployments` in order of preference, never empty."""

    order: TaskOrder
    tenant: Tenant
    deployments: Sequence[Deployment]
    ways: Ways
    usage: Usage | None = None
    spend: Spend | None = None
    calls: int = 0
    attempts: int = 0
    answered_by: Deployment | None = None

    async def ask(
        self,
        body: Mapping[str, object],
        *,
        check: CheckAnswer | None = None,
        endpoint: Endpoint = Endpoint.CHAT,
    ) -> Judgement:
        """The verdict on the answer; one that does not satisfy `check` is asked for once more.

        Raise `Deferred` when there is no answer now.
        """
        row = await self._row(endpoint, body)
        judgement = judge(row, check)
        attempts = 1
        if judgement.again is Again.REPAIR:
            row = await self._row(endpoint, repair_of(body, row.text, judgement.message or "it is not valid"))
            judgement = judge(row, check)
            attempts = 2
        self.attempts = max(self.attempts, attempts)
        return judgement

    @property
    def spent(self) -> tuple[Usage, Spend] | None:
        if self.usage is None and self.spend is None:
            return None
        return self.usage or NOTHING_USED, self.spend or NOTHING_SPENT

    async def _row(self, endpoint: Endpoint, body: Mapping[str, object]) -> Row:
        """From the first deployment that is not left alone."""
        question = Question(
            endpoint=endpoint,
            body=body,
            tenant=self.order.tenant,
            correlation_id=self.order.correlation_id,
        )
        found_shut = []
        for deployment in self.deployments:
            try:
                return await self._answer(deployment, question)
            except Shut as shut:
                found_shut.append(shut)
        raise all_shut(found_shut)

    async def _answer(self, deployment: Deployment, question: Question) -> Row:
        gate = self.ways.pace.of(deployment).gate
        tokens = await self._estimate(deployment, question.body)
        limits = faults = 0
        while True:
            try:
                found = await self._try(gate, deployment, question, tokens)
            except RateLimited as limited:
                limits += 1
                if limits >= _MOST_LIMITS or limited.retry_after > self._patience:
                    raise _put_off(str(limited), limited.retry_after, RATE_LIMITED) from None
                continue
            if isinstance(found, Row):
                return found
            gate.refuse_if_shut()
            faults += 1
            if faults > 1:
                raise _put_off(found, _AFTER_A_FAULT, INFRASTRUCTURE)
            await self.ways.pace.sleep(self.ways.pace.pacing.second_try.total_seconds())

    async def _try(self, gate: Gate, deployment: Deployment, question: Question, tokens: int) -> Row | str:
        """The answer, or what went wrong and may pass."""
        try:
            row = await gate.ask(
                self.tenant, tokens, lambda: self._call(deployment, question), patience=self._patience
            )
        except (RateLimited, Deferred):
            raise
        except TryAgainLater as fault:
            if isinstance(fault, NotAdmitted):
                await self.ways.alarm(deployment, fault)
            return str(fault)
        if judge(row, None).again is Again.TRANSIENT:
            return row.message or "the answer could not be read"
        return row

    async def _call(self, deployment: Deployment, question: Question) -> Row:
        model = self.ways.models.model(deployment)
        self.calls += 1
        row = await model.ask(question)
        self._book(deployment, row)
        return row

    def _book(self, deployment: Deployment, row: Row) -> None:
        if row.kind is RowKind.ANSWER:
            self.answered_by = deployment
        if row.usage is not None:
            card = self.ways.prices.card(deployment, Lane.MINUTES)
            self.usage = (self.usage or NOTHING_USED) + row.usage
            self.spend = (self.spend or NOTHING_SPENT) + card.spend(row.usage)
        elif row.kind is RowKind.ANSWER:
            # Paid for, and nobody told how much.
            self.spend = (self.spend or NOTHING_SPENT) + Spend(unpriced=1)

    @property
    def _patience(self) -> timedelta:
        """Longer once there are answers, which would be bought again."""
        pacing = self.ways.pace.pacing
        return pacing.short_wait if self.spend is None else pacing.committed_wait

    async def _estimate(self, deployment: Deployment, body: Mapping[str, object]) -> int:
        """The most that the call can take: what is asked, and the longest answer."""
        (asked,) = await self.ways.count(deployment.model, [prompt_text(body)])
        limits = [limit for name in TOKEN_LIMITS if isinstance(limit := body.get(name), int)]
        if "messages" not in body:
            return asked
        return asked + _WRAPPING + (limits[0] if limits else UNTOLD_OUTPUT)


def all_shut(found: Sequence[Shut]) -> Deferred:
    """None of the deployments can be asked; the first one to be asked again says when."""
    return Deferred(
        "; ".join(map(str, found)), retry_after=min(shut.retry_after for shut in found), fault=INFRASTRUCTURE
    )


def _put_off(trouble: str, wait: timedelta, fault: str) -> Deferred:
    return Deferred(trouble, retry_after=wait, fault=fault)

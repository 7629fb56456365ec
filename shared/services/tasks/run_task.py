"""Run one task over one document: the minutes lane's only way to a model."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.domain.catalog import Deployment, Endpoint, Lane
from shared.domain.errors import Deferred, NotAdmitted, RateLimited, TryAgainLater
from shared.domain.rows import Again, Row, judge
from shared.domain.tasks import TaskOrder, TaskResult
from shared.ports.catalog import CatalogSource
from shared.ports.models import Models, Question
from shared.ports.prices import Prices
from shared.ports.schemas import Schemas
from shared.services.tasks.prompts import request_for

_AFTER_A_FAULT: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    catalog: CatalogSource
    models: Models
    prices: Prices
    schemas: Schemas

    async def __call__(self, order: TaskOrder) -> TaskResult:
        """The result, refusals and faults of the document included.

        Raise `Deferred` when it cannot be done now.
        """
        catalog = await self.catalog.current()
        deployment = catalog.deployment(order.alias.minutes[0])
        row = await self._ask(deployment, order)
        judgement = judge(row, self.schemas.checker(order.schema) if order.schema is not None else None)
        if judgement.again is Again.TRANSIENT:
            raise Deferred("the answer is no good", retry_after=_AFTER_A_FAULT, fault=judgement.reason)
        spend = self.prices.card(deployment, Lane.MINUTES).spend(row.usage) if row.usage else None
        return TaskResult(
            outcome=judgement.outcome,
            reason=judgement.reason,
            message=judgement.message,
            output=judgement.output,
            usage=row.usage,
            spend=spend,
            provider=deployment.provider,
            model=deployment.model,
            deployment=deployment.name,
            attempts=1,
            calls=1,
        )

    async def _ask(self, deployment: Deployment, order: TaskOrder) -> Row:
        question = Question(
            endpoint=Endpoint.CHAT,
            body=request_for(order),
            tenant=order.tenant,
            correlation_id=order.correlation_id,
        )
        try:
            return await self.models.model(deployment).ask(question)
        except RateLimited as limited:
            raise Deferred(str(limited), retry_after=limited.retry_after, fault="rate_limited") from None
        except (NotAdmitted, TryAgainLater) as fault:
            raise Deferred(str(fault), retry_after=_AFTER_A_FAULT, fault="infrastructure") from None

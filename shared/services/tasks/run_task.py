"""Run one task over one document: the minutes lane's only way to a model."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from shared.domain.catalog import Alias, Catalog, Deployment, Tenant
from shared.domain.errors import Deferred, GiveUp, Rejected
from shared.domain.ids import AliasName, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.rows import Judgement
from shared.domain.tasks import TaskOrder, TaskResult
from shared.ports.catalog import CatalogSource
from shared.ports.schemas import Schemas
from shared.ports.splitter import Splitter
from shared.ports.windows import Windows
from shared.services.pace.gate import Shut
from shared.services.tasks.asking import Asking, Ways, all_shut
from shared.services.tasks.embed import embed
from shared.services.tasks.one_question import one_question
from shared.services.tasks.summarize import summarize
from shared.services.tasks.translate import translate
from shared.services.tasks.work import Reply, Task, Work

TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {
        "summarize": summarize,
        "extract": one_question,
        "classify": one_question,
        "prompt": one_question,
        "translate": translate,
        "embed": embed,
    }
)
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    catalog: CatalogSource
    ways: Ways
    schemas: Schemas
    splitter: Splitter
    windows: Windows

    async def __call__(self, order: TaskOrder) -> TaskResult:
        """The result, refusals and faults of the document or the pipeline included.

        Raise `Deferred` when it cannot be done now, with what was spent all the same.
        """
        async with self.turn(order.alias, order.tenant):
            return await self.in_turn(order)

    @asynccontextmanager
    async def turn(self, alias: Alias, tenant: TenantId) -> AsyncIterator[None]:
        """This tenant's turn with the alias, as long as it is held: to read a document and to run `in_turn`.

        Raise `Deferred` when it is not its turn, or when no deployment of the alias can be asked now. Costs
        nothing, so it is best asked for before anything else is done.
        """
        catalog = await self.catalog.current()
        found_shut = []
        for deployment in _deployments(catalog, alias):
            pace = self.ways.pace.of(deployment)
            try:
                pace.gate.refuse_if_shut()
            except Shut as shut:
                found_shut.append(shut)
                continue
            async with pace.slots.slot(_tenant(catalog, tenant)):
                yield
            return
        if found_shut:
            raise all_shut(found_shut)
        yield

    async def refuse_if_crowded(self, alias: AliasName, tenant: TenantId) -> None:
        """Raise `Deferred` where `turn` would at once because the tenant has more than its share under way.

        For whoever does not know yet whether there is anything to do: an alias that does not exist is no matter.
        """
        catalog = await self.catalog.current()
        known = catalog.aliases.get(alias)
        for deployment in _deployments(catalog, known) if known else []:
            pace = self.ways.pace.of(deployment)
            if not pace.gate.is_shut:
                pace.slots.refuse_if_crowded(_tenant(catalog, tenant))
                return

    async def in_turn(self, order: TaskOrder) -> TaskResult:
        """As `__call__`, for whoever holds a turn."""
        catalog = await self.catalog.current()
        deployments = _deployments(catalog, order.alias)
        task = TASKS.get(order.task)
        if task is None or not deployments:
            return _failed("invalid_request", _why_not(order, task))
        order = replace(order, text=_HALF_PAIR.sub("\ufffd", order.text))
        if not order.text.strip():
            return _failed("no_text", "the document holds no text")
        asking = Asking(
            order=order, tenant=_tenant(catalog, order.tenant), deployments=deployments, ways=self.ways
        )
        work = Work(
            order=order, asking=asking, schemas=self.schemas, splitter=self.splitter, windows=self.windows
        )
        return _result(asking, await _done(task, work))


async def _done(task: Task, work: Work) -> Reply:
    try:
        return await task(work)
    except Deferred as deferred:
        deferred.spent = work.asking.spent
        raise
    except Rejected as rejected:
        return Reply(judgement=_judged(rejected.code, str(rejected)))
    except GiveUp as reason:
        return Reply(judgement=_judged("invalid_request", str(reason)))


def _result(asking: Asking, reply: Reply) -> TaskResult:
    judgement, by = reply.judgement, asking.answered_by or asking.deployments[0]
    return TaskResult(
        outcome=judgement.outcome,
        reason=judgement.reason,
        message=judgement.message,
        output=judgement.output,
        parts=reply.parts,
        usage=asking.usage,
        spend=asking.spend,
        provider=by.provider if asking.calls else None,
        model=by.model if asking.calls else None,
        deployment=by.name if asking.calls else None,
        attempts=asking.attempts,
        calls=asking.calls,
    )


def _deployments(catalog: Catalog, alias: Alias) -> list[Deployment]:
    """Those that the catalogue of now still has."""
    return [catalog.deployments[name] for name in alias.minutes if name in catalog.deployments]


def _tenant(catalog: Catalog, tenant: TenantId) -> Tenant:
    return catalog.tenants.get(tenant) or Tenant(id=tenant)


def _why_not(order: TaskOrder, task: Task | None) -> str:
    if task is None:
        return f"pipeline {order.pipeline.name!r} names the task {order.task!r}; there is {', '.join(TASKS)}"
    return f"alias {order.alias.name!r} has no deployment in the minutes lane"


def _judged(reason: str, message: str) -> Judgement:
    return Judgement(outcome=Outcome.FAILED, reason=reason, message=message)


def _failed(reason: str, message: str) -> TaskResult:
    return TaskResult(outcome=Outcome.FAILED, reason=reason, message=message)

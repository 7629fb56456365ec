"""Tasks that are one question: what comes of every kind of answer."""

from datetime import timedelta

import msgspec
import pytest

from shared.adapters.memory.model import MemoryModels
from shared.adapters.memory.provider_rows import Fate
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.pricing.schemas import JsonschemaRsSchemas
from shared.domain.errors import Deferred, RateLimited, TryAgainLater
from shared.domain.outcomes import Outcome
from shared.services.tasks.run_task import RunTask
from tests.support.world import FixedCatalog
from tests.unit.tasks.orders import a_catalog, an_order


def a_run(models: MemoryModels) -> RunTask:
    return RunTask(
        catalog=FixedCatalog(a_catalog()),
        models=models,
        prices=GenaiPrices(),
        schemas=JsonschemaRsSchemas(),
    )


async def test_a_document_is_summarized_and_paid_for() -> None:
    models = MemoryModels()
    models.of("mini").manners.answer = lambda words: f"about {words[:11]}"

    result = await a_run(models)(an_order())

    assert result.outcome is Outcome.SUCCEEDED
    assert result.output is not None
    assert msgspec.json.decode(result.output) == "about The printer"
    assert result.usage
    assert result.spend
    assert result.spend.amount > 0
    assert (result.deployment, result.model, result.attempts, result.calls) == ("mini", "gpt-5-mini", 1, 1)


async def test_a_refusal_is_a_result() -> None:
    models = MemoryModels()
    models.of("mini").manners.fates["printer"] = Fate.REFUSAL

    result = await a_run(models)(an_order())

    assert (result.outcome, result.reason, result.calls) == (Outcome.REFUSED, "refusal", 1)


@pytest.mark.parametrize(
    ("fault", "reason", "wait"),
    [
        (RateLimited("429", retry_after=timedelta(minutes=3)), "rate_limited", timedelta(minutes=3)),
        (TryAgainLater("500"), "infrastructure", timedelta(seconds=5)),
    ],
)
async def test_what_cannot_be_done_now_is_deferred(
    fault: TryAgainLater, reason: str, wait: timedelta
) -> None:
    models = MemoryModels()
    models.of("mini").manners.faults.extend([fault] * 9)

    with pytest.raises(Deferred) as deferred:
        await a_run(models)(an_order())

    assert deferred.value.fault == reason
    assert deferred.value.retry_after >= wait

"""What an activity answers, and what it tells of a fault of our own."""

from dataclasses import replace

import pytest

from shared.domain.findings import FindingKind
from shared.orchestration import job as orchestration
from shared.triggers import steps
from tests.support.world import World, a_body


async def test_a_step_of_an_older_run_says_that_it_is_superseded() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))

    answer = await steps.plan_round(world.app, {"tenant": job.tenant, "job_id": job.id, "run": 0})

    assert answer == {orchestration.SUPERSEDED: True}


async def test_a_fault_of_ours_is_found_once_and_tells_no_content() -> None:
    world = World()
    job = await world.submit(a_body(["a"]))

    async def broken(*_: object) -> None:
        raise KeyError("a customer's secret")

    app = replace(world.app, plan_round=broken)  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(KeyError):
            await steps.plan_round(app, {"tenant": job.tenant, "job_id": job.id, "run": 1})

    [finding] = await world.findings()
    assert finding.kind is FindingKind.STEP_FAILING
    assert "plan_round" in finding.message
    assert "KeyError at triggers/test_steps.py" in finding.message
    assert "secret" not in finding.message

"""Orchestrations on the local host behave as they do on the platform."""

import asyncio
import json
from typing import Any

import aiohttp
import pytest

pytestmark = pytest.mark.stack


async def begin(http: aiohttp.ClientSession, name: str, value: Any, *, instance: str | None = None) -> str:
    instance = instance or name
    async with http.post(f"/orchestrations/{name}/{instance}?reuse=1", data=json.dumps(value)) as response:
        assert response.status == 202
    return instance


async def end(http: aiohttp.ClientSession, instance: str) -> dict[str, Any]:
    """The final status; fails when there is none within a minute."""
    for _ in range(1200):
        async with http.get(f"/orchestrations/{instance}") as response:
            state = dict(await response.json())
        if state["status"] in {"COMPLETED", "FAILED", "TERMINATED"}:
            return state
        await asyncio.sleep(0.05)
    raise AssertionError(f"{instance} is still {state}")


async def run(http: aiohttp.ClientSession, name: str, value: Any) -> Any:
    state = await end(http, await begin(http, name, value))
    return (state["status"], state["output"])


async def test_fan_out_collects_every_result(http: aiohttp.ClientSession) -> None:
    assert await run(http, "fan_out", 20) == ("COMPLETED", "380")


async def test_activities_run_side_by_side_up_to_the_configured_number(http: aiohttp.ClientSession) -> None:
    assert await run(http, "concurrency", 10) == ("COMPLETED", "4")


async def test_a_timer_fires_when_it_is_due(http: aiohttp.ClientSession) -> None:
    status, seconds = await run(http, "wait_a_second", None)

    assert status == "COMPLETED"
    assert 0.95 < float(seconds) < 3


async def test_an_event_wins_against_a_timer(http: aiohttp.ClientSession) -> None:
    instance = await begin(http, "wait_for_go", 60)
    async with http.post(f"/orchestrations/{instance}/events/go", json="now") as response:
        assert response.status == 202

    assert (await end(http, instance))["output"] == '"now"'


async def test_a_timer_wins_when_no_event_comes(http: aiohttp.ClientSession) -> None:
    instance = await begin(http, "wait_for_go", 0.2, instance="nobody_says_go")

    assert (await end(http, instance))["output"] == '"late"'


async def test_continue_as_new_starts_over_and_keeps_the_custom_status(http: aiohttp.ClientSession) -> None:
    instance = await begin(http, "poll", 3)

    state = await end(http, instance)

    assert (state["output"], state["custom"]) == ('"polled"', '"0 to go"')


async def test_a_timer_of_an_execution_that_ended_does_not_wake_the_next(http: aiohttp.ClientSession) -> None:
    status, seconds = await run(http, "stale_timer", True)

    assert status == "COMPLETED"
    assert float(seconds) > 2.5


async def test_a_failing_activity_is_retried(http: aiohttp.ClientSession) -> None:
    assert await run(http, "retrying", "transient") == ("COMPLETED", '"attempt 3"')


async def test_an_orchestrator_sees_type_first_line_and_trace_of_a_failure(
    http: aiohttp.ClientSession,
) -> None:
    status, output = await run(http, "catching", "one line: and\nanother")

    assert (status, output) == ("COMPLETED", '["LookupError", "one line: and", true]')


async def test_a_failure_without_a_message_is_still_a_failure(http: aiohttp.ClientSession) -> None:
    status, output = await run(http, "catching", "")

    assert (status, output) == ("COMPLETED", '["LookupError", "LookupError", true]')


async def test_an_activity_that_exits_fails_and_the_host_lives_on(http: aiohttp.ClientSession) -> None:
    assert await run(http, "calls_exit", None) == ("COMPLETED", '"SystemExit"')


async def test_an_uncaught_failure_fails_the_orchestration(http: aiohttp.ClientSession) -> None:
    state = await end(http, await begin(http, "failing", "too bad"))

    assert state["status"] == "FAILED"
    assert "too bad" in state["failure"][1]


async def test_unknown_functions_fail_by_name(http: aiohttp.ClientSession) -> None:
    for name in ("calls_nobody", "no_such_orchestrator"):
        state = await end(http, await begin(http, name, None))
        assert state["status"] == "FAILED"
        assert "doesn't exist" in state["failure"][1]


async def test_a_parent_waits_for_its_child(http: aiohttp.ClientSession) -> None:
    assert await run(http, "parent", 0.2) == ("COMPLETED", '"child said late"')


async def test_an_entity_keeps_its_state(http: aiohttp.ClientSession) -> None:
    assert await run(http, "counts", "key") == ("COMPLETED", "6")


async def test_a_late_result_does_not_reach_a_new_instance_of_the_same_id(
    http: aiohttp.ClientSession,
) -> None:
    instance = await begin(http, "slow_then_double", 1, instance="reborn")
    await asyncio.sleep(0.2)
    async with http.post(f"/orchestrations/{instance}/terminate") as response:
        assert response.status == 202
    assert (await end(http, instance))["status"] == "TERMINATED"

    await begin(http, "slow_then_double", 21, instance=instance)

    assert (await end(http, instance))["output"] == "42"


async def test_an_instance_id_in_use_is_refused_unless_its_status_may_be_replaced(
    http: aiohttp.ClientSession,
) -> None:
    await end(http, await begin(http, "fan_out", 1, instance="once"))

    async with http.post("/orchestrations/fan_out/once", json=2) as response:
        assert response.status == 409
    assert (await end(http, await begin(http, "fan_out", 3, instance="once")))["output"] == "6"


async def test_what_does_not_exist_has_no_state_and_takes_no_event(http: aiohttp.ClientSession) -> None:
    async with http.get("/orchestrations/never-started") as response:
        assert response.status == 404
    async with http.post("/orchestrations/never-started/events/go", json=1) as response:
        assert response.status == 404


async def test_a_finished_instance_can_be_purged_once(http: aiohttp.ClientSession) -> None:
    instance = await begin(http, "fan_out", 1, instance="purged")
    await end(http, instance)

    deleted = []
    for _ in range(2):
        async with http.delete(f"/orchestrations/{instance}") as response:
            deleted.append((await response.json())["deleted"])

    assert deleted == [1, 0]

"""Timer functions on the local host."""

import asyncio
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.local.host.host_process import HostProcess

pytestmark = pytest.mark.stack


def runs(log: Path) -> dict[str, list[dict[str, Any]]]:
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    if log.exists():
        for line in log.read_bytes().split(b"\n"):
            if line:
                entry = json.loads(line)
                by_name[entry["name"]].append(entry)
    return by_name


async def after_runs(log: Path, name: str, count: int) -> dict[str, list[dict[str, Any]]]:
    for _ in range(1200):
        if len(runs(log)[name]) >= count:
            return runs(log)
        await asyncio.sleep(0.05)
    raise AssertionError(f"{name} ran {len(runs(log)[name])} times only")


async def test_a_schedule_comes_from_its_setting_and_the_function_gets_its_durable_client(
    sample: HostProcess, timer_log: Path
) -> None:
    entry = (await after_runs(timer_log, "sweep", 2))["sweep"][-1]

    assert (entry["missing"], entry["past_due"]) == (True, False)


async def test_a_slow_timer_never_runs_twice_at_the_same_time(sample: HostProcess, timer_log: Path) -> None:
    entries = (await after_runs(timer_log, "slow_timer", 3))["slow_timer"]

    assert {entry["running"] for entry in entries} == {1}


async def test_a_timer_that_fails_runs_again(sample: HostProcess, timer_log: Path) -> None:
    await after_runs(timer_log, "failing_timer", 3)

    assert "function.failed failing_timer: RuntimeError: timers may fail" in sample.errors


async def test_a_timer_without_its_setting_never_runs(sample: HostProcess, timer_log: Path) -> None:
    assert "unscheduled" not in await after_runs(timer_log, "failing_timer", 1)

"""Timers: one whose schedule is a setting, one slower than its interval; and what the host cannot run."""

import asyncio
import json
import os
import time
from pathlib import Path

import azure.durable_functions as df
import azure.functions as func

blueprint = df.Blueprint()
running = 0


def record(name: str, **values: object) -> None:
    """Append one line that a test can read."""
    with Path(os.environ["SAMPLE_LOG"]).open("a") as log:
        log.write(json.dumps({"name": name, "at": time.time(), **values}) + "\n")


@blueprint.timer_trigger(arg_name="timer", schedule="%SAMPLE_SCHEDULE%", run_on_startup=False)
@blueprint.durable_client_input(client_name="client")
async def sweep(timer: func.TimerRequest, client: df.DurableFunctionsClient) -> None:
    missing = await client.get_orchestration_state("no-such-instance")
    record("sweep", missing=missing is None, past_due=timer.past_due)


@blueprint.timer_trigger(arg_name="timer", schedule="* * * * * *")
async def slow_timer(timer: func.TimerRequest) -> None:
    global running
    running += 1
    try:
        record("slow_timer", running=running)
        await asyncio.sleep(1.3)
    finally:
        # A call that is cut for taking too long, as on a busy machine, runs no longer either.
        running -= 1


@blueprint.timer_trigger(arg_name="timer", schedule="*/1 * * * * *")
def failing_timer(timer: func.TimerRequest) -> None:
    record("failing_timer")
    raise RuntimeError("timers may fail")


@blueprint.timer_trigger(arg_name="timer", schedule="%NO_SUCH_SETTING%")
def unscheduled(timer: func.TimerRequest) -> None:
    record("unscheduled")


@blueprint.cosmos_db_trigger(arg_name="documents", connection="x", database_name="d", container_name="c")
def not_served(documents: func.DocumentList) -> None:
    record("not_served")

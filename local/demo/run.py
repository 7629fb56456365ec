"""One run of the demo: a stack that lives as long as the samples take."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from local.demo.client import Postern
from local.demo.documents import Document, sample_documents
from local.demo.hours_lane import Finished, HoursLane
from local.demo.minutes_lane import Answered, MinutesLane
from local.demo.progress import Display
from local.demo.samples import EVERYWHERE, SAMPLES, Planted, planted_trouble
from local.demo.simulator import plant
from local.demo.trouble import DemoFailed
from local.stack import Stack, start_stack

CALL_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of it. `everywhere` is the same job once for each provider."""

    finished: Sequence[Finished]
    everywhere: Sequence[Finished]
    planted: Sequence[Planted]
    answered: Sequence[Answered]


def run_on_a_stack(data: Path, out: Path, display: Display) -> Run:
    """Start a stack in `data`, run the samples, stop it. Raises `DemoFailed` or `StackFailed`."""
    with ExitStack() as parts:
        with display.during(
            "starting storage, queue, provider simulator and Functions host", done="the local stack is up"
        ):
            stack = parts.enter_context(start_stack(data))
        run = asyncio.run(_run_samples(stack, out, display))
        with display.during("stopping the stack", done="and stopped"):
            parts.close()
    return run


async def _run_samples(stack: Stack, out: Path, display: Display) -> Run:
    planted, documents = planted_trouble(), sample_documents()
    rules = [trouble.rule for trouble in (*planted, *planted_trouble(EVERYWHERE[0]))]
    rules += [document.rule for document in documents if document.rule is not None]
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session:
            await plant(session, stack.simulator, rules)
            clients = {
                tenant: Postern(session=session, base=stack.http, key=key)
                for tenant, key in stack.keys.items()
            }
            hours = HoursLane(clients=clients, out=out, watch=display.see)
            with display.watching((*SAMPLES, *EVERYWHERE), documents=len(documents)):
                finished, everywhere, answered = await asyncio.gather(
                    hours.run(), hours.everywhere(), _minutes(stack, documents, out, display).run()
                )
    except (aiohttp.ClientError, TimeoutError) as exc:
        raise DemoFailed(f"the stack stopped answering: {exc!r}") from exc
    return Run(finished=finished, everywhere=everywhere, planted=planted, answered=answered)


def _minutes(stack: Stack, documents: Sequence[Document], out: Path, display: Display) -> MinutesLane:
    return MinutesLane(storage=stack.storage, documents=documents, out=out, watch=display.see_documents)

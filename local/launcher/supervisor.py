"""Keeps the processes of the stack running: starts them in order, restarts what dies, ends all gently."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

from local.launcher.leash import leash
from local.launcher.logs import keep_small, last_lines, open_log
from local.launcher.processes import PROJECT, Process
from local.launcher.readiness import is_ready

log = logging.getLogger(__name__)

START_SECONDS = 60.0
START_ATTEMPTS = 3
MAX_RESTART_DELAY_SECONDS = 3.0


class StartFailed(Exception):
    """A process does not come up; the message has the end of its log."""


class Supervisor:
    """`on_change` is called with all process ids whenever one changes."""

    def __init__(
        self,
        processes: tuple[Process, ...],
        *,
        logs: Path,
        lock: int,
        on_change: Callable[[Mapping[str, int]], None],
    ) -> None:
        self._processes = processes
        self._logs = logs
        self._lock = lock
        self._on_change = on_change
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._ready = {process.name: asyncio.Event() for process in processes}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> dict[str, int]:
        return {name: running.pid for name, running in self._running.items()}

    async def start(self) -> None:
        """Return when every process is ready. Raises `StartFailed`."""
        self._tasks = [asyncio.create_task(self._keep(process)) for process in self._processes]
        self._tasks.append(asyncio.create_task(keep_small(self._logs)))
        all_ready = asyncio.create_task(self._all_ready())
        await asyncio.wait({all_ready, *self._tasks}, return_when=asyncio.FIRST_COMPLETED)
        for task in self._tasks:
            if task.done():
                all_ready.cancel()
                task.result()
        await all_ready

    async def stop(self) -> None:
        """End the processes, those first that others were started for."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        dependents = [process for process in self._processes if process.after]
        others = [process for process in self._processes if not process.after]
        for group in (dependents, others):
            await asyncio.gather(*(self._end(process) for process in group))

    async def _all_ready(self) -> None:
        for event in self._ready.values():
            await event.wait()

    async def _keep(self, process: Process) -> None:
        """Run the process over and over. Ends only by cancellation, or when it never came up."""
        for name in process.after:
            if name in self._ready:
                await self._ready[name].wait()
        failures = 0
        while True:
            began = asyncio.get_running_loop().time()
            code, came_up = await self._run_once(process)
            lived = asyncio.get_running_loop().time() - began
            failures = 0 if came_up else failures + 1
            if not self._ready[process.name].is_set() and failures >= START_ATTEMPTS:
                raise StartFailed(self._post_mortem(process, code))
            log.warning(
                "process.ended %s, exit code %s after %.1f s; starting it again", process.name, code, lived
            )
            await asyncio.sleep(min(0.1 * 2**failures, MAX_RESTART_DELAY_SECONDS))

    async def _run_once(self, process: Process) -> tuple[int, bool]:
        """Start the process, note when it is ready, and wait for its end: its exit code, and if it came up."""
        running = await self._spawn(process)
        self._running[process.name] = running
        self._on_change(self.pids)
        ended = asyncio.create_task(running.wait())
        ready = asyncio.create_task(self._until_ready(process))
        try:
            await asyncio.wait({ended, ready}, return_when=asyncio.FIRST_COMPLETED)
            if ready.done() and not ready.result():
                log.warning("process.not_ready %s after %.0f s; killing it", process.name, START_SECONDS)
                running.kill()
            code = await ended
            return code, ready.done() and ready.result()
        finally:
            ready.cancel()
            ended.cancel()

    async def _until_ready(self, process: Process) -> bool:
        """Whether it became ready in time."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_SECONDS):
                while not await is_ready(process):  # noqa: ASYNC110 - another process has no event to wait for
                    await asyncio.sleep(0.05)
                log.info("process.ready %s, pid %d", process.name, self._running[process.name].pid)
                self._ready[process.name].set()
                return True
        return False

    async def _spawn(self, process: Process) -> asyncio.subprocess.Process:
        output = open_log(self._logs / f"{process.name}.log")
        standard = open_log(self._logs / f"{process.name}-access.log") if process.access_log else output
        try:
            return await asyncio.create_subprocess_exec(
                *process.command,
                cwd=PROJECT,
                env=dict(process.environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=standard,
                stderr=output,
                pass_fds=(self._lock,),
                preexec_fn=leash(process.on_orphaned),
            )
        finally:
            for descriptor in {output, standard}:
                os.close(descriptor)

    async def _end(self, process: Process) -> None:
        running = self._running.get(process.name)
        if running is None or running.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            running.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(running.wait(), process.stop_seconds)
        except TimeoutError:
            log.warning(
                "process.stubborn %s did not end in %.0f s; killing it", process.name, process.stop_seconds
            )
            running.kill()
            await running.wait()

    def _post_mortem(self, process: Process, code: int) -> str:
        file = self._logs / f"{process.name}.log"
        return (
            f"{process.name} does not start (exit code {code}): {' '.join(process.command)}\n"
            f"the end of {file}:\n{last_lines(file, 30)}"
        )

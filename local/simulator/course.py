"""The course of a batch from validating to its end. Every step is committed before the next one starts:
a process that was killed goes on where the last commit was, and no row is written twice."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID, uuid5

from azure.core.exceptions import AzureError

from local.simulator import quotas as quotas_of
from local.simulator import work
from local.simulator.batches import Batch, Batches, Status
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.dialects.port import BatchDialect
from local.simulator.failures import LineFault
from local.simulator.files import Files, StoredFile
from local.simulator.lines import LineIndex, index
from local.simulator.pace import LATEST, pace
from local.simulator.quotas import Quotas
from local.simulator.rulebook import RuleBook
from local.simulator.storage import Storage
from local.simulator.validator import Validation
from local.simulator.work import Desk, Slice

log = logging.getLogger(__name__)


class Runner(Protocol):
    """How a step waits and works; `desk` keeps what is costly to find out again."""

    desk: Desk | None

    async def in_turn[T](self, work: Callable[[], T]) -> T: ...

    async def pause(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    database: Database
    clock: Clock
    files: Files
    batches: Batches
    rules: RuleBook
    quotas: Quotas
    storage: Storage
    dialects: Mapping[str, BatchDialect]

    async def step(self, batch: Batch, run: Runner) -> None:
        """One step further, or one wait. The caller loads the batch again before the next."""
        if wait := self._held(batch):
            await run.pause(wait)
        elif batch.status is Status.VALIDATING:
            await self._validate(batch, run)
        elif batch.status is Status.IN_PROGRESS:
            await self._progress(batch, run)
        elif batch.position < batch.total and batch.ending is not Status.COMPLETED:
            await self._leave(batch, run)
        else:
            await self._deliver(batch, run)

    def _held(self, batch: Batch) -> float:
        """How long a rule keeps the batch in the state it has; 0: it does not."""
        script = batch.script
        if script is None:
            return 0
        if batch.status is Status.CANCELLING:
            since = batch.entered.get("cancelling_at", 0)
            return max(0.0, since + script.cancel_seconds - self.clock.now())
        stuck_here = script.ending == "stuck" and script.state == batch.status
        fails_later = script.ending == Status.FAILED and batch.status is Status.VALIDATING
        if not (fails_later or (stuck_here and batch.status is not Status.IN_PROGRESS)):
            return 0
        if stuck_here and not script.after_seconds:
            return LATEST
        return max(0.0, batch.created_at + script.after_seconds - self.clock.now())

    async def _validate(self, batch: Batch, run: Runner) -> None:
        dialect, path = self.dialects[batch.provider], self.files.pinned(batch.id)
        validation = Validation(path, dialect, batch.endpoint)
        while not await run.in_turn(validation.advance):
            continue
        findings = validation.findings
        batch = self.batches.load(batch.id)
        if batch.status is not Status.VALIDATING:
            # It was cancelled meanwhile.
            return
        batch = replace(
            batch,
            model=batch.model or findings.model,
            total=len(findings.lines),
            enqueued_tokens=findings.tokens,
        )
        fault = findings.fault or _scripted_fault(batch) or self._quota_fault(batch)
        if fault:
            failed = replace(batch, faults=(fault,), total=0, enqueued_tokens=0)
            self._enter(failed, Status.FAILED)
            self.files.unpin(batch.id)
            return
        run.desk = self._desk(batch, findings.lines)
        self._enter(batch, Status.IN_PROGRESS)

    def _quota_fault(self, batch: Batch) -> LineFault | None:
        quota = self.quotas.of(batch.provider, batch.model)
        why = quotas_of.excess(quota, self.batches.unfinished(), batch)
        return LineFault(code="token_limit_exceeded", message=why) if why else None

    async def _progress(self, batch: Batch, run: Runner) -> None:
        now = self.clock.now()
        may = pace(batch, now=now, expires=self.dialects[batch.provider].expires)
        if batch.position < may.rows:
            desk = await self._at_desk(batch, run)
            position, until = batch.position, may.rows
            done = await run.in_turn(
                lambda: work.answer(desk, self.rules, position=position, until=until, now=int(now))
            )
            self._commit(self.batches.load(batch.id), done, desk)
        elif may.ending:
            lapsed = may.ending is Status.COMPLETED and batch.lapsed
            ending = Status.EXPIRED if lapsed else may.ending
            status = Status.CANCELLING if ending is Status.CANCELLED else Status.FINALIZING
            self._enter(replace(batch, ending=ending), status)
        else:
            await run.pause(may.wait)

    async def _leave(self, batch: Batch, run: Runner) -> None:
        desk = await self._at_desk(batch, run)
        why = str(batch.ending or Status.CANCELLED)
        done = await run.in_turn(lambda: work.leave(desk, position=batch.position, why=why))
        self._commit(self.batches.load(batch.id), done, desk)

    def _commit(self, batch: Batch, done: Slice, desk: Desk) -> None:
        """Rows first, then their lengths: what lies behind a committed length is written over."""
        output_bytes = work.write(desk.output_path, batch.output_bytes, done.output)
        error_bytes = work.write(desk.error_path, batch.error_bytes, done.errors)
        with self.database.transaction():
            self.rules.keep(done.uses)
            self.batches.save(
                replace(
                    batch,
                    position=done.position,
                    completed=batch.completed + done.completed,
                    failed=batch.failed + done.failed,
                    lapsed=batch.lapsed + done.lapsed,
                    usage=batch.usage + done.usage,
                    output_bytes=output_bytes,
                    error_bytes=error_bytes,
                    tail=done.tail or batch.tail,
                )
            )

    async def _deliver(self, batch: Batch, run: Runner) -> None:
        try:
            self._publish(await run.in_turn(lambda: self._delivered(batch)) if batch.output_folder else batch)
        except AzureError as error:
            # The storage is not there at present, or never will be: the batch goes on trying.
            log.warning("batch %s: its results cannot be written: %s", batch.id, type(error).__name__)
            await run.pause(1.0)

    def _delivered(self, batch: Batch) -> Batch:
        """The batch with its results put where its caller wants them. The same again after a crash.

        The address of the errors is told although there may be none.
        """
        batch = _without_lost(batch)
        output_id, error_id = result_ids(batch)
        folder = f"{batch.output_folder}/{batch.id.removeprefix('batch_')}"
        output_blob, error_blob = f"{folder}/results.jsonl", f"{folder}/errors.jsonl"
        output, errors = self.files.path(output_id), self.files.path(error_id)
        if work.write(output, batch.output_bytes, batch.tail):
            self.storage.put(output_blob, output)
        if work.write(errors, batch.error_bytes, b""):
            self.storage.put(error_blob, errors)
        return replace(batch, output_blob=output_blob, error_blob=error_blob)

    def _publish(self, batch: Batch) -> None:
        """Result files and terminal state appear together."""
        dialect, now = self.dialects[batch.provider], int(self.clock.now())
        batch = _without_lost(batch)
        if batch.output_folder:
            self._enter(batch, batch.ending or Status.CANCELLED)
            self.files.unpin(batch.id)
            for name in result_ids(batch):
                self.files.path(name).unlink(missing_ok=True)
            return
        output, errors = self._result_files(batch, now)
        keeps_errors = dialect.keeps_empty_files and "in_progress_at" in batch.entered
        with self.database.transaction():
            if output.bytes:
                size = work.write(self.files.path(output.id), batch.output_bytes, batch.tail)
                self.files.add(replace(output, bytes=size))
                batch = replace(batch, output_file_id=output.id)
            if errors.bytes or keeps_errors:
                work.write(self.files.path(errors.id), batch.error_bytes, b"")
                self.files.add(errors)
                batch = replace(batch, error_file_id=errors.id)
            self._enter(batch, batch.ending or Status.CANCELLED)
        self.files.unpin(batch.id)
        for file, shown in ((output, batch.output_file_id), (errors, batch.error_file_id)):
            if shown is None:
                self.files.path(file.id).unlink(missing_ok=True)

    def _result_files(self, batch: Batch, now: int) -> tuple[StoredFile, StoredFile]:
        dialect = self.dialects[batch.provider]
        kept = batch.output_expires_after or dialect.output_seconds
        common = StoredFile(
            id="",
            provider=batch.provider,
            purpose="batch_output",
            filename="",
            bytes=0,
            created_at=now,
            expires_at=now + kept if kept else None,
            batch_id=batch.id,
        )
        output_id, error_id = result_ids(batch)
        output_bytes = batch.output_bytes + len(batch.tail)
        return (
            replace(common, id=output_id, filename=f"{batch.id}_output.jsonl", bytes=output_bytes),
            replace(common, id=error_id, filename=f"{batch.id}_error.jsonl", bytes=batch.error_bytes),
        )

    def _enter(self, batch: Batch, status: Status) -> None:
        entered = {**batch.entered, f"{status}_at": int(self.clock.now())}
        self.batches.save(replace(batch, status=status, entered=entered))

    async def _at_desk(self, batch: Batch, run: Runner) -> Desk:
        if run.desk is None:
            path = self.files.pinned(batch.id)
            run.desk = self._desk(batch, await run.in_turn(lambda: index(path)))
        return run.desk

    def _desk(self, batch: Batch, lines: LineIndex) -> Desk:
        output_id, error_id = result_ids(batch)
        return Desk(
            batch_id=batch.id,
            dialect=self.dialects[batch.provider],
            endpoint=batch.endpoint,
            model=batch.model,
            input_path=self.files.pinned(batch.id),
            output_path=self.files.path(output_id),
            error_path=self.files.path(error_id),
            lines=lines,
            order=lines.shuffled(batch.id),
        )


def _without_lost(batch: Batch) -> Batch:
    """Some batches that are cancelled forget what was answered."""
    if batch.ending is Status.CANCELLED and batch.script and batch.script.loses_output:
        return replace(batch, output_bytes=0, tail=b"", completed=0)
    return batch


def result_ids(batch: Batch) -> tuple[str, str]:
    """Names of the output and the error file: known from the start, valid once the batch has ended."""
    if "-" in batch.id:
        # Ids are UUIDs there, of files too.
        return str(uuid5(UUID(batch.id), "output")), str(uuid5(UUID(batch.id), "errors"))
    name = batch.id.rpartition("_")[2]
    return f"file-{name}o", f"file-{name}e"


def _scripted_fault(batch: Batch) -> LineFault | None:
    script = batch.script
    if script is None or script.ending != Status.FAILED:
        return None
    code = script.error_code or "invalid_request"
    return LineFault(code=code, message=script.message or f"Simulated failure: {code}.")

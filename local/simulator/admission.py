"""A wish for a batch becomes a batch: weighed against the quota, given to a rule, committed, begun."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from local.simulator.batches import Batch, Batches, Script, Status
from local.simulator.database import Database
from local.simulator.dialects.port import BatchDialect
from local.simulator.engine import Engine
from local.simulator.failures import CallRefused, LineRefused
from local.simulator.files import Files
from local.simulator.lines import scan
from local.simulator.quotas import Quotas, excess
from local.simulator.rulebook import RuleBook, Taken
from local.simulator.rules import Kind
from local.simulator.stage import Call, Stage
from local.simulator.validator import validate


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    database: Database
    files: Files
    batches: Batches
    rules: RuleBook
    quotas: Quotas
    engine: Engine
    stage: Stage

    async def admit(self, call: Call, batch: Batch, dialect: BatchDialect) -> Batch:
        """The batch, committed together with the call's line in the journal, and begun.

        Raises `CallRefused` where the deployment's quota refuses at once.
        """
        batch = await self._weighed(batch, dialect)
        taken = await self.stage.take(Kind.BATCH, call, dialect)
        lags = call.then
        batch = replace(
            batch,
            script=script_of(taken),
            listed_from=batch.created_at + (lags.list_lag_seconds or 0),
            found_from=batch.created_at + (lags.retrieve_lag_seconds or 0),
        )
        call.batch_id = batch.id
        # Before the commit: a batch that is known always finds its input.
        try:
            self.files.pin(batch.input_file_id, batch.id)
        except FileNotFoundError as error:
            gone = f"The file {batch.input_file_id} was deleted meanwhile."
            raise CallRefused(400, "invalid_request", gone) from error
        with self.database.transaction():
            if taken:
                self.rules.keep(Counter([taken.rule_id]))
            self.batches.add(batch)
            self.stage.record(call)
        self.engine.begin(batch.id)
        return batch

    async def _weighed(self, batch: Batch, dialect: BatchDialect) -> Batch:
        """The batch with its tokens, which count from now on."""
        if not self.quotas.any_for(dialect.name):
            return batch
        path = self.files.path(batch.input_file_id)
        findings = await asyncio.to_thread(validate, path, dialect, batch.endpoint)
        batch = replace(batch, model=batch.model or findings.model, enqueued_tokens=findings.tokens)
        quota = self.quotas.of(dialect.name, batch.model)
        why = excess(quota, self.batches.unfinished(), batch)
        if why and quota and quota.refusal == "create":
            raise CallRefused(400, "token_limit_exceeded", why)
        # One that is to fail after validating must not count before.
        return replace(batch, enqueued_tokens=0) if why else batch


def script_of(taken: Taken | None) -> Script | None:
    ending = taken.then.batch if taken else None
    if taken is None or ending is None:
        return None
    then = taken.then
    return Script(
        ending=ending,
        after_seconds=then.after_seconds or 0.0,
        rows=then.completed,
        error_code=then.error_code,
        message=then.message,
        state=then.state or Status.IN_PROGRESS,
        cancel_seconds=then.cancel_seconds or 0.0,
        loses_output=then.lost_output or False,
    )


def model_of(path: Path, dialect: BatchDialect) -> str | None:
    """The model of the first request; None where it cannot be read."""
    for _, _, _, raw in islice(scan(path), 1):
        try:
            return dialect.read_line(raw, None).model
        except LineRefused:
            break
    return None

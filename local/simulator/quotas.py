"""Enqueued-token quotas per deployment, and how many files a resource may hold."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from local.simulator.batches import Batch
from local.simulator.database import Database
from local.simulator.failures import CallRefused, Json


class Quota(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`refusal`: whether `create` itself says no, or the batch fails after validating.

    `model` "*" stands for every deployment without a quota of its own, each counted for itself.
    """

    provider: str = "azure_openai"
    model: str = "*"
    enqueued_tokens: int | None = None
    refusal: Literal["create", "failed"] = "create"
    files: int | None = None


def read_quota(body: bytes) -> Quota:
    try:
        quota = msgspec.json.decode(body, type=Quota)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CallRefused(400, "invalid_quota", str(error)) from error
    if quota.enqueued_tokens is None and quota.files is None:
        raise CallRefused(400, "invalid_quota", "give `enqueued_tokens`, `files` or both")
    return quota


class Quotas:
    def __init__(self, database: Database) -> None:
        self._database = database

    def set(self, quota: Quota) -> None:
        self._database.execute(
            "INSERT OR REPLACE INTO quotas VALUES (?, ?, ?)",
            [quota.provider, quota.model, msgspec.json.encode(quota)],
        )

    def clear(self) -> None:
        self._database.execute("DELETE FROM quotas")

    def of(self, provider: str, model: str | None = None) -> Quota | None:
        """The quota of a deployment, or the provider's general one."""
        row = self._database.execute(
            "SELECT quota FROM quotas WHERE provider = ? AND model IN (?, '*') ORDER BY model = '*' LIMIT 1",
            [provider, model or "*"],
        ).fetchone()
        return msgspec.json.decode(row[0], type=Quota) if row else None

    def any_for(self, provider: str) -> bool:
        sql = "SELECT 1 FROM quotas WHERE provider = ? LIMIT 1"
        return self._database.execute(sql, [provider]).fetchone() is not None

    def listing(self) -> list[Json]:
        rows = self._database.execute("SELECT quota FROM quotas ORDER BY provider, model").fetchall()
        return [msgspec.json.decode(row[0]) for row in rows]


def excess(quota: Quota | None, batches: Iterable[Batch], batch: Batch) -> str | None:
    """Why `batch` does not fit beside the others of its deployment that are not terminal; None: it fits."""
    if quota is None or quota.enqueued_tokens is None:
        return None
    enqueued = sum(
        each.enqueued_tokens
        for each in batches
        if each.id != batch.id and each.provider == batch.provider and each.model == batch.model
    )
    if enqueued + batch.enqueued_tokens <= quota.enqueued_tokens:
        return None
    return (
        f"The batch exceeds the configured limit of {quota.enqueued_tokens} enqueued tokens "
        f"for the deployment '{batch.model}': {enqueued} are enqueued, it would add {batch.enqueued_tokens}."
    )

"""Models that answer at once: the minutes lane's way through the synchronous gateway."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from shared.domain.catalog import Deployment, Endpoint
from shared.domain.ids import TenantId
from shared.domain.rows import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """`body` is OpenAI's, without the model. Tenant and correlation id travel as headers to the gateway."""

    endpoint: Endpoint
    body: Mapping[str, object]
    tenant: TenantId
    correlation_id: str


class Model(Protocol):
    """One deployment. No retries inside: pacing and patience are the caller's."""

    async def ask(self, question: Question) -> Row:
        """The answer, as a row without a key: what a batch would have held for it.

        A refusal, a filter, a complaint about the request (4xx) are rows. Raise `RateLimited` (429, with the
        wait asked for, bounded), `NotAdmitted` (401, 403, 404, billing), `TryAgainLater` (5xx, timeout,
        connection); never anything of an SDK.
        """
        ...


class Models(Protocol):
    def model(self, deployment: Deployment) -> Model:
        """The same object for the same deployment while it is unchanged.

        Raise `GiveUp` for a provider that does not answer at once, `NotAdmitted` when its key is missing.
        """
        ...

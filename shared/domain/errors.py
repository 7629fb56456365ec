"""Errors, sorted by what the caller should do next.

PosternError
├── TryAgainLater      transient: the same call may succeed later, unchanged
│   ├── RateLimited    same, but not before `retry_after`
│   ├── Deferred       work of the minutes lane cannot be done now: schedule it anew, after `retry_after`
│   ├── NoCapacity     the provider's enqueued-token quota is full: wait, and ask again
│   ├── NotAdmitted    our own credentials or account were refused: alert the operator, ask again
│   ├── Unknowable     the effect may or may not have happened: look it up before any repeat
│   └── Ambiguous      several things could be the one looked for: pause, never act on a guess
├── GiveUp             permanent: record the reason, stop
│   ├── IllegalMove    the state machine forbids it
│   ├── Rejected       the provider (or the door) refused the input, with a code
│   ├── Superseded     a later orchestration drives this job: stop without a word
│   └── Unauthenticated  nobody we know is calling
├── NotFound           no such thing, or not for this tenant
└── Conflict           someone else won: reload and decide again
"""

from datetime import timedelta

from shared.domain.usage import Spend, Usage


class PosternError(Exception):
    """Base of every error this app raises on purpose. Texts hold no content and no secret."""


class TryAgainLater(PosternError):
    """The same call may succeed later, unchanged."""


class RateLimited(TryAgainLater):
    """The provider asked us to slow down."""

    def __init__(self, message: str, *, retry_after: timedelta) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Deferred(TryAgainLater):
    """Not now: schedule it anew, no sooner than after `retry_after`.

    `fault` is the reason a document ends with once patience is used up (`rate_limited`, `provider_error`,
    `infrastructure`): something failed, for this document or so often for others that nothing was sent. None:
    nothing failed, it was not its turn. `spent` is what answers that are lost with it have cost; it is to be
    booked.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after: timedelta,
        fault: str | None = None,
        spent: tuple[Usage, Spend] | None = None,
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.fault = fault
        self.spent = spent


class NoCapacity(TryAgainLater):
    """The deployment's queue is full. Nothing ran, nothing was billed."""


class NotAdmitted(TryAgainLater):
    """The provider refused the app itself (401, 403, billing). No tenant is to blame."""


class Unknowable(TryAgainLater):
    """No answer arrived: the provider may have done what was asked."""


class Ambiguous(TryAgainLater):
    """Several candidates match. A person, or time, must decide."""


class GiveUp(PosternError):
    """The same call can never succeed."""


class IllegalMove(GiveUp):
    """The event is not allowed in the current state."""


class Rejected(GiveUp):
    """The input was refused. `code` is the refuser's own, safe to show to the tenant."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Superseded(GiveUp):
    """Another orchestration has taken this job over."""


class Unauthenticated(GiveUp):
    """The caller is nobody we know. The text is safe to send: nothing of a credential is in it."""


class NotFound(PosternError):
    """Absent, or another tenant's: the two are never told apart."""


class Conflict(PosternError):
    """Our copy of the record was stale, or the name is taken."""

"""The sub-queue where messages go that nobody could use, and the reason each carries with it."""

from dataclasses import dataclass, replace

from local.servicebus.amqp.sections import with_application_properties
from local.servicebus.messages import Message

SUFFIX = "/$deadletterqueue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    reason: str | None
    description: str | None


EXPIRED = Reason(reason="TTLExpiredException", description="The message expired and was dead lettered.")


def too_many_deliveries(limit: int) -> Reason:
    return Reason(
        reason="MaxDeliveryCountExceeded",
        description=f"Message could not be consumed after {limit} delivery attempts.",
    )


def with_reason(message: Message, reason: Reason) -> Message:
    """The reason travels as two application properties, which is where receivers look for it."""
    named = {"DeadLetterReason": reason.reason, "DeadLetterErrorDescription": reason.description}
    given = {name: text for name, text in named.items() if text is not None}
    if not given:
        return message
    return replace(message, bare=with_application_properties(message.bare, given))

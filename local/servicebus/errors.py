"""Refused is the one error that a client is told about; anything else is a fault of ours."""

from local.servicebus.amqp.outcomes import Problem
from local.servicebus.amqp.values import Symbol


class Refused(Exception):
    """`status` is for request and reply nodes, `condition` for links and settlements."""

    def __init__(self, condition: str, description: str, *, status: int) -> None:
        super().__init__(description)
        self.condition = Symbol(condition)
        self.description = description
        self.status = status

    @property
    def problem(self) -> Problem:
        return Problem(self.condition, self.description)


def unknown_entity(path: str) -> Refused:
    return Refused("amqp:not-found", f"The messaging entity {path!r} could not be found.", status=404)


def lock_lost() -> Refused:
    return Refused(
        "com.microsoft:message-lock-lost",
        "The lock supplied is invalid. Either the lock expired, or the message has already been removed "
        "from the queue.",
        status=410,
    )


def message_missing(sequence: int, kind: str) -> Refused:
    return Refused(
        "com.microsoft:message-not-found", f"There is no {kind} message with number {sequence}.", status=404
    )


def not_offered(what: str) -> Refused:
    return Refused("amqp:not-implemented", f"This emulator does not offer {what}.", status=501)


def not_allowed(why: str) -> Refused:
    return Refused("amqp:not-allowed", why, status=400)


def bad_argument(why: str) -> Refused:
    return Refused("com.microsoft:argument-error", why, status=400)


def unauthorized(why: str) -> Refused:
    return Refused("amqp:unauthorized-access", why, status=401)


def too_large(size: int, limit: int) -> Refused:
    return Refused(
        "amqp:link:message-size-exceeded",
        f"The message has {size} bytes; the link takes at most {limit}.",
        status=400,
    )


def not_readable(malformed: Exception) -> Refused:
    return Refused("amqp:decode-error", f"The message cannot be read: {malformed}", status=400)

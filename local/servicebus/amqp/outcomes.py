"""How a delivery ended, and why something was refused, as the described values that AMQP uses for both."""

from typing import Any, NamedTuple

from local.servicebus.amqp.values import Described, Symbol, ULong

ERROR = ULong(0x1D)
RECEIVED = ULong(0x23)
ACCEPTED = ULong(0x24)
REJECTED = ULong(0x25)
RELEASED = ULong(0x26)
MODIFIED = ULong(0x27)


class Problem(NamedTuple):
    """An AMQP error."""

    condition: Symbol
    description: str | None = None
    information: dict[Any, Any] | None = None


class Modification(NamedTuple):
    delivery_failed: bool | None = None
    undeliverable_here: bool | None = None
    annotations: dict[Any, Any] | None = None


def accepted() -> Described:
    return Described(ACCEPTED, [])


def released() -> Described:
    return Described(RELEASED, [])


def rejected(problem: Problem | None = None) -> Described:
    """Without a problem it confirms a rejection that the other end asked for."""
    return Described(REJECTED, [] if problem is None else [error(problem)])


def modified(modification: Modification) -> Described:
    return Described(MODIFIED, list(modification))


def error(problem: Problem) -> Described:
    return Described(ERROR, list(problem))


def problem_of(outcome: Described) -> Problem:
    """What a rejection says; empty when it says nothing."""
    inner = outcome.value[0] if outcome.value else None
    return Problem(*inner.value) if isinstance(inner, Described) else Problem(Symbol(""))


def modification_of(outcome: Described) -> Modification:
    return Modification(*outcome.value)

"""What a receiver decided about a delivery, carried out; the answer echoes the decision or says why not."""

from local.servicebus.amqp import outcomes
from local.servicebus.amqp.values import Described
from local.servicebus.broker import Broker
from local.servicebus.dead_letters import Reason
from local.servicebus.errors import Refused, lock_lost
from local.servicebus.outbound import Unsettled


def settle(broker: Broker, delivery: Unsettled | None, outcome: Described | None) -> Described:
    """None for a delivery that this session does not know, or whose outcome was left open."""
    try:
        if delivery is None:
            raise lock_lost()
        return _carry_out(broker, delivery, outcome or outcomes.released())
    except Refused as refused:
        return outcomes.rejected(refused.problem)


def _carry_out(broker: Broker, delivery: Unsettled, outcome: Described) -> Described:
    match outcome.descriptor:
        case outcomes.ACCEPTED:
            broker.complete(delivery.entity, delivery.token)
            return outcomes.accepted()
        case outcomes.REJECTED:
            broker.dead_letter(delivery.entity, delivery.token, _reason(outcome))
            return outcomes.rejected()
        case outcomes.MODIFIED:
            return _modify(broker, delivery, outcome)
        case _:
            broker.release(delivery.entity, delivery.token)
            return outcomes.released()


def _modify(broker: Broker, delivery: Unsettled, outcome: Described) -> Described:
    modification = outcomes.modification_of(outcome)
    if modification.undeliverable_here:
        broker.defer(delivery.entity, delivery.token)
    else:
        # Clients differ in setting delivery-failed; Service Bus counts an abandoned delivery either way.
        broker.abandon(delivery.entity, delivery.token)
    return outcomes.modified(modification)


def _reason(outcome: Described) -> Reason:
    problem = outcomes.problem_of(outcome)
    given = problem.information or {}
    return Reason(
        reason=given.get("DeadLetterReason"),
        description=given.get("DeadLetterErrorDescription", problem.description),
    )

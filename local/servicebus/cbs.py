"""The `$cbs` node: a client shows a token for an entity before it opens links there."""

import logging
from collections.abc import Callable, Mapping

from local.servicebus.access import Claims, read_token
from local.servicebus.amqp.values import Int
from local.servicebus.definitions import Policy
from local.servicebus.errors import Refused, not_offered
from local.servicebus.requests import Reply, Request

ACCEPTED = 202

log = logging.getLogger(__name__)


class PutToken:
    """`clock` gives seconds since 1970 UTC."""

    def __init__(self, *, claims: Claims, policies: Mapping[str, Policy], clock: Callable[[], float]) -> None:
        self._claims = claims
        self._policies = policies
        self._clock = clock

    def __call__(self, request: Request) -> Reply:
        try:
            self._put(request)
        except Refused as refused:
            log.warning("servicebus.token_refused reason=%r", refused.description)
            return _reply(refused.status, refused.description)
        return _reply(ACCEPTED, "Accepted")

    def _put(self, request: Request) -> None:
        if request.operation != "put-token":
            raise not_offered(f"the operation {request.operation!r} of $cbs")
        audience = str(request.parameters.get("name", ""))
        claim = read_token(str(request.body), audience, self._policies, self._clock())
        self._claims.add(claim)


def _reply(status: int, description: str) -> Reply:
    return Reply(parameters={"status-code": Int(status), "status-description": description})

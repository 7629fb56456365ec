"""What the catalogue says of a deployment, as adapters need it."""

from dataclasses import replace
from typing import Final

from shared.adapters.providers.connection import Connection
from shared.domain.catalog import Deployment
from shared.domain.errors import NotAdmitted
from shared.ports.providers import Traits

# Services count enqueued tokens approximately: a chunk planned to the last token may not fit.
QUOTA_USED: Final = 0.95


def traits_of(traits: Traits, deployment: Deployment) -> Traits:
    """The provider's limits, and what the catalogue sets below them."""
    given = deployment.limits
    quota = int(given.enqueued_tokens * QUOTA_USED) if given.enqueued_tokens else None
    limits = traits.limits.lowered(requests=given.requests, bytes_=given.bytes, tokens=quota)
    return replace(traits, limits=limits)


def key_of(deployment: Deployment, connection: Connection) -> str | None:
    """The provider's key; None where the catalogue names no setting. `NotAdmitted` if it is not set."""
    if deployment.key_setting is None:
        return None
    try:
        key = connection.key(deployment.key_setting)
    except KeyError:
        key = ""
    if not key:
        raise NotAdmitted(
            f"deployment {deployment.name!r}: app setting {deployment.key_setting!r} is missing"
        )
    return key

"""What a deployment's tokens cost."""

from typing import Protocol

from shared.domain.catalog import Deployment, Lane
from shared.domain.prices import PriceCard


class Prices(Protocol):
    def card(self, deployment: Deployment, lane: Lane) -> PriceCard:
        """The rates in force; `UNPRICED` when none are known. Never a guess, never an exception."""
        ...

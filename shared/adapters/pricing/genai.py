"""Prices from `genai-prices`, offline, with what the catalogue and our own table know better.

The list answers a question for a batch price it does not have with the standard price, and says nothing.
So a batch figure that equals the standard one is never believed.
"""

from decimal import Decimal
from typing import Final

import genai_prices
from genai_prices.types import ModelPrice, TieredPrices

from shared.adapters.pricing._discounts import Discount, discounts
from shared.adapters.pricing._ladder import Ladder, complete, discounted, flat, mapped, to_card
from shared.domain.catalog import Deployment, Lane
from shared.domain.prices import UNPRICED, PriceCard, Rates

_BATCH: Final = {"processing": "batch"}
_LIST: Final = f"genai-prices {genai_prices.__version__}"

# What a card depends on. A deployment itself cannot be hashed.
_Question = tuple[str, str, Rates | None, Lane]


class GenaiPrices:
    """Each card is worked out once; a price that changes is seen after a restart."""

    def __init__(self) -> None:
        self._cards: dict[_Question, PriceCard] = {}

    def card(self, deployment: Deployment, lane: Lane) -> PriceCard:
        question = (deployment.provider, deployment.model, deployment.price, lane)
        card = self._cards.get(question)
        if card is None:
            card = self._cards[question] = _card(*question)
        return card


def _card(provider: str, model: str, contract: Rates | None, lane: Lane) -> PriceCard:
    discount = discounts().by_provider.get(provider)
    listed = _listed(discount.list, model) if discount else None
    if contract is not None:
        return _contract_card(contract, listed if lane is Lane.HOURS else None)
    if discount is None or listed is None:
        return UNPRICED
    if lane is Lane.HOURS:
        return _batch_card(discount, model, listed)
    source = f"{_LIST}: {discount.list}/{model}"
    return to_card(billed=listed, standard=listed, source=source, as_of=discounts().list_as_of)


def _contract_card(contract: Rates, listed: Ladder | None) -> PriceCard:
    """Without a list price nobody knows what was saved, and no saving is claimed."""
    billed = flat(complete(contract))
    source = "catalogue" if listed else "catalogue; no list price to compare with"
    return to_card(billed=billed, standard=listed or billed, source=source, as_of=None)


def _batch_card(discount: Discount, model: str, listed: Ladder) -> PriceCard:
    for name in filter(None, (discount.list, discount.batch_list)):
        batch = _listed(name, model, batch=True)
        if batch and _differs(batch, listed) and _listed(name, model) == listed:
            source = f"{_LIST}: {name}/{model}, batch"
            return to_card(billed=batch, standard=listed, source=source, as_of=discounts().list_as_of)
    return _discounted_card(discount, model, listed)


def _discounted_card(discount: Discount, model: str, listed: Ladder) -> PriceCard:
    cached_too = discount.includes_cached_input(model)
    cached = f"cached input x {discount.factor} as well" if cached_too else "cached input not discounted"
    return to_card(
        billed=mapped(listed, lambda rates: discounted(rates, discount.factor, cached_too=cached_too)),
        standard=listed,
        source=f"{_LIST}: {discount.list}/{model} x {discount.factor} ({discount.source}), {cached}: assumed",
        as_of=discount.as_of,
    )


def _differs(batch: Ladder, standard: Ladder) -> bool:
    return (batch[0].input, batch[0].output) != (standard[0].input, standard[0].output)


def _listed(name: str, model: str, *, batch: bool = False) -> Ladder | None:
    """What the list says, or None for a model it does not price by the token."""
    try:
        told = genai_prices.calc_price(
            genai_prices.Usage(), model, provider_id=name, price_context=_BATCH if batch else None
        ).model_price
    except (LookupError, ValueError):
        return None
    ladder = {limit: _rates(told, limit) for limit in _limits(told)}
    return None if ladder[0].input is None else ladder


def _limits(told: ModelPrice) -> set[int]:
    tiered = (price for price in _buckets(told) if isinstance(price, TieredPrices))
    return {0, *(tier.start for price in tiered for tier in price.tiers)}


def _rates(told: ModelPrice, limit: int) -> Rates:
    input_, cached, write, output = (_rate(price, limit) for price in _buckets(told))
    return complete(Rates(input=input_, cached_input=cached, cache_write=write, output=output))


def _buckets(told: ModelPrice) -> tuple[Decimal | TieredPrices | None, ...]:
    return (told.input_mtok, told.cache_read_mtok, told.cache_write_mtok, told.output_mtok)


def _rate(price: Decimal | TieredPrices | None, limit: int) -> Decimal | None:
    if not isinstance(price, TieredPrices):
        return price
    reached = [tier for tier in price.tiers if tier.start <= limit]
    return max(reached, key=lambda tier: tier.start).price if reached else price.base

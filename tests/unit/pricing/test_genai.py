"""What a deployment's tokens cost, and where the figure comes from."""

from decimal import Decimal

import genai_prices
import pytest

from shared.adapters.pricing._discounts import discounts
from shared.adapters.pricing.genai import GenaiPrices
from shared.domain.catalog import Deployment, Lane
from shared.domain.ids import DeploymentName
from shared.domain.prices import UNPRICED, PriceCard, Rates
from shared.domain.usage import Usage

PROVIDERS = ("azure_openai", "openai", "anthropic", "mistral", "vertex")


def a_deployment(
    model: str = "gpt-5-mini", *, provider: str = "azure_openai", price: Rates | None = None
) -> Deployment:
    return Deployment(
        name=DeploymentName("d"),
        provider=provider,
        model=model,
        deployment="whatever-it-is-called",
        price=price,
    )


def a_card(model: str = "gpt-5-mini", *, lane: Lane = Lane.HOURS, **deployment: object) -> PriceCard:
    return GenaiPrices().card(a_deployment(model, **deployment), lane)  # type: ignore[arg-type]


def rates(input_: str, output: str | None, *, cached: str | None = None, write: str | None = None) -> Rates:
    def money(text: str | None) -> Decimal | None:
        return None if text is None else Decimal(text)

    return Rates(
        input=money(input_), cached_input=money(cached), cache_write=money(write), output=money(output)
    )


def test_a_batch_on_azure_costs_half_although_the_list_does_not_say_so() -> None:
    card = a_card("gpt-5-mini")

    assert card.billed == rates("0.125", "1", cached="0.0125", write="0.125")
    assert card.standard == rates("0.25", "2", cached="0.025", write="0.25")
    assert "batch" in card.source
    assert card.as_of is not None


def test_the_cached_price_in_a_batch_depends_on_the_model() -> None:
    """`gpt-4o-mini`: the batch price of cached input is that of ordinary input, and not a quarter."""
    card = a_card("gpt-4o-mini")

    assert (card.billed.input, card.billed.cached_input) == (Decimal("0.075"), Decimal("0.075"))


@pytest.mark.parametrize(
    ("provider", "model", "factor"),
    [
        ("openai", "gpt-5-mini", "0.5"),
        ("anthropic", "claude-haiku-4-5", "0.5"),
        ("mistral", "mistral-large-latest", "0.5"),
        ("vertex", "gemini-2.5-flash", "0.5"),
        ("openai", "text-embedding-3-small", "0.5"),
        ("azure_openai", "o3-mini", "0.5"),
        ("azure_openai", "text-embedding-3-large", "0.5"),
        ("azure_openai", "phi-4", "0.5"),
        ("vertex", "claude-haiku-4-5", "0.5"),
    ],
)
def test_every_provider_bills_a_batch_at_half(provider: str, model: str, factor: str) -> None:
    card = a_card(model, provider=provider)

    assert card.standard.input
    assert card.billed.input == card.standard.input * Decimal(factor)
    if card.standard.output is not None:
        assert card.billed.output == card.standard.output * Decimal(factor)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_no_batch_is_ever_billed_like_a_synchronous_call(provider: str) -> None:
    """Over the whole list: a batch costs less, and a cached token no more than another."""
    name = discounts().by_provider[provider].list
    from genai_prices.data_snapshot import get_snapshot

    models = next(entry.models for entry in get_snapshot().providers if entry.id == name)
    prices = GenaiPrices()
    cards = [prices.card(a_deployment(model.id, provider=provider), Lane.HOURS) for model in models]

    priced = [card for card in cards if card is not UNPRICED and card.standard.input]
    assert len(priced) > 10
    for card in priced:
        for billed, standard in ((card.billed, card.standard), *(tier[1:] for tier in card.tiers)):
            assert billed.input is not None
            assert standard.input is not None
            assert billed.cached_input is not None
            assert billed.input < standard.input
            assert billed.cached_input <= billed.input


def test_where_the_cached_price_is_not_published_the_source_says_it_is_assumed() -> None:
    card = a_card("gpt-5.3-codex")

    assert card.standard.cached_input
    assert card.billed.cached_input == card.standard.cached_input / 2
    assert "assumed" in card.source


def test_a_synchronous_call_is_billed_as_listed() -> None:
    card = a_card("gpt-5-mini", lane=Lane.MINUTES)

    assert card.billed == card.standard == rates("0.25", "2", cached="0.025", write="0.25")


def test_long_requests_cost_more_where_the_model_has_tiers() -> None:
    card = a_card("gemini-2.5-pro", provider="vertex")

    short = card.spend(Usage(uncached_input=200_000, output=1000))
    long = card.spend(Usage(uncached_input=200_001, output=1000))

    assert short.amount == (200_000 * Decimal("0.625") + 1000 * Decimal("5")) / 1_000_000
    assert long.amount == (200_001 * Decimal("1.25") + 1000 * Decimal("7.5")) / 1_000_000
    assert long.standard == 2 * long.amount


def test_usage_in_buckets_is_priced_bucket_by_bucket() -> None:
    spend = a_card("gpt-5-mini").spend(Usage(uncached_input=86, cached_input=1920, output=300, reasoning=200))

    assert spend.amount == (86 * Decimal("0.125") + 1920 * Decimal("0.0125") + 300) / 1_000_000
    assert spend.saved == spend.amount


def test_the_card_agrees_with_the_lists_own_arithmetic() -> None:
    usage = Usage(uncached_input=1000, cached_input=500, output=70)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1500, cache_read_tokens=500, output_tokens=70),
        "gpt-5-mini",
        provider_id="openai",
        price_context={"processing": "batch"},
    )

    assert a_card("gpt-5-mini", provider="openai").spend(usage).amount == theirs.total_price


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("azure_openai", "a-model-of-our-own"),
        ("openai_compatible", "gpt-5-mini"),
        ("nobody", "gpt-5-mini"),
        ("openai", ""),
    ],
)
def test_what_nobody_lists_is_unpriced(provider: str, model: str) -> None:
    for lane in Lane:
        assert a_card(model, provider=provider, lane=lane) is UNPRICED


def test_a_price_of_the_catalogue_wins_and_the_saving_is_measured_against_the_list() -> None:
    card = a_card("gpt-5-mini", price=rates("0.1", "0.8", cached="0.01"))

    assert card.billed == rates("0.1", "0.8", cached="0.01", write="0.1")
    assert card.standard == rates("0.25", "2", cached="0.025", write="0.25")
    assert card.source == "catalogue"


def test_without_a_list_price_the_cost_is_known_and_no_saving_is_claimed() -> None:
    card = a_card("a-model-of-our-own", price=rates("0.1", "0.8"))

    spend = card.spend(Usage(uncached_input=1_000_000, output=1_000_000))

    assert (spend.amount, spend.saved, spend.unpriced) == (Decimal("0.9"), Decimal(0), 0)
    assert "no list price" in card.source


def test_a_synchronous_call_at_a_contract_price_saves_nothing() -> None:
    card = a_card("gpt-5-mini", price=rates("0.1", "0.8"), lane=Lane.MINUTES)

    assert card.billed == card.standard


def test_a_card_is_worked_out_once() -> None:
    prices = GenaiPrices()

    assert prices.card(a_deployment(), Lane.HOURS) is prices.card(a_deployment(), Lane.HOURS)


def test_the_installed_list_is_the_one_that_was_looked_over() -> None:
    assert discounts().list_version == genai_prices.__version__

"""Numbers, money and times as clients read them."""

from datetime import UTC, datetime
from decimal import Decimal

from shared.domain.usage import Spend, Usage

CURRENCY = "USD"


def plain(amount: Decimal) -> str:
    """Every digit, no exponent, no needless zeros: `0.0123`, `0`, `1200`."""
    text = f"{amount:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def rfc3339(instant: datetime | None) -> str | None:
    """UTC, to the second, with Z; fractions are cut off."""
    return None if instant is None else instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def usage_json(usage: Usage) -> dict[str, int]:
    """Inclusive counts, as OpenAI's: a cached token is an input token, a reasoning token an output token."""
    return {
        "input_tokens": usage.input,
        "cached_input_tokens": usage.cached_input,
        "cache_write_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
    }


def amounts(spend: Spend) -> tuple[str | None, str | None]:
    """What was billed and what was saved; None where nothing of what was used has a price."""
    if spend.unpriced and not spend.standard and not spend.amount:
        return None, None
    return plain(spend.amount), plain(spend.saved)


def cost_json(spend: Spend) -> dict[str, object]:
    amount, saved = amounts(spend)
    return {"amount": amount, "currency": CURRENCY, "unpriced_requests": spend.unpriced, "saved": saved}

"""One row for each provider, from the traits of its adapter."""

import importlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Final

from shared.adapters.providers.model_registry import MAKERS
from shared.adapters.providers.registry import MODULES
from shared.domain.catalog import Endpoint
from shared.ports.providers import Traits

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "providers" / "README.md"
BEGIN: Final = "<!-- Made by `python -m checks.providers --write`. -->"
END: Final = "<!-- Made until here. -->"

HEADINGS: Final = (
    "provider",
    "answers in batches",
    "answers at once",
    "requests in a batch",
    "bytes in a batch",
    "window",
    "found again by",
    "needs a token limit",
)


def page_with(page: str, made: str) -> str:
    """The page with `made` between the marks, and all else as it is."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"


def table() -> str:
    """Sorted by name. Imports the SDK of every provider."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *_rows()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def traits_of(provider: str) -> Traits:
    traits = importlib.import_module(MODULES[provider]).TRAITS
    if not isinstance(traits, Traits):
        raise TypeError(f"{MODULES[provider]} has no TRAITS")
    return traits


def _rows() -> Iterator[tuple[str, ...]]:
    for provider in sorted(MODULES):
        traits = traits_of(provider)
        yield (
            _name(provider),
            ", ".join(endpoint.value for endpoint in Endpoint if endpoint in traits.endpoints),
            "yes" if provider in MAKERS else "no",
            f"{traits.limits.requests:,}",
            _megabytes(traits.limits.bytes),
            _hours(traits.window),
            "our key" if traits.find_is_exact else "time, size and ids",
            "yes" if traits.needs_output_limit else "no",
        )


def _name(provider: str) -> str:
    """Linked to its page, where it has one."""
    page = PAGE.with_name(f"{provider}.md")
    return f"[`{provider}`]({page.name})" if page.exists() else f"`{provider}`"


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:,.0f} MB"


def _hours(time: timedelta) -> str:
    return f"{time / timedelta(hours=1):g} h"

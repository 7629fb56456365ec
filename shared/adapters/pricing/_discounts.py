"""Batch discounts that no price list tells by itself: `batch_discounts.toml`."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

_FILE: Final = Path(__file__).with_name("batch_discounts.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discount:
    """The fields are explained in the file."""

    list: str
    batch_list: str | None
    factor: Decimal
    cached: tuple[str, ...]
    source: str
    as_of: str

    def includes_cached_input(self, model: str) -> bool:
        return model.lower().startswith(self.cached)


@dataclass(frozen=True, slots=True, kw_only=True)
class Discounts:
    """`list_version` and `list_as_of`: which release of the price list was looked over, and when."""

    list_version: str
    list_as_of: str
    by_provider: Mapping[str, Discount]


@cache
def discounts() -> Discounts:
    told = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return Discounts(
        list_version=told["genai_prices"]["version"],
        list_as_of=told["genai_prices"]["as_of"],
        by_provider=MappingProxyType(
            {
                provider: Discount(
                    list=entry["list"],
                    batch_list=entry.get("batch_list"),
                    factor=Decimal(entry["factor"]),
                    cached=tuple(entry["cached"]),
                    source=entry["source"],
                    as_of=entry["as_of"],
                )
                for provider, entry in told["providers"].items()
            }
        ),
    )

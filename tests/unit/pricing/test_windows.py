"""Context windows of models we know, and of those we do not."""

from dataclasses import replace

import pytest

from shared.adapters.pricing.windows import UNTOLD, GenaiWindows
from tests.unit.tasks.orders import a_deployment


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [
        ("azure_openai", "gpt-5-mini", 400_000),
        ("azure_openai", "text-embedding-3-small", 8_192),
        ("openai", "gpt-4o-2024-08-06", 128_000),
        ("openai", "nothing-of-the-kind", UNTOLD),
        ("openai_compatible", "gpt-5-mini", UNTOLD),
    ],
)
def test_a_window_is_the_models_or_a_cautious_one(provider: str, model: str, tokens: int) -> None:
    deployment = replace(a_deployment("mini"), provider=provider, model=model)

    assert GenaiWindows().tokens(deployment) == tokens

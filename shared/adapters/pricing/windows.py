"""Context windows from `genai-prices`, offline."""

from typing import Final

from genai_prices.data_snapshot import get_snapshot

from shared.domain.catalog import Deployment

# What today's smallest common models take. Too little costs a few more calls, too much costs the document.
UNTOLD: Final = 32_000

# Lists that know the models of a provider, the nearest first.
_LISTS: Final = {
    "azure_openai": ("azure", "openai"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "mistral": ("mistral",),
    "vertex": ("google",),
}


class GenaiWindows:
    """Each window is looked up once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}

    def tokens(self, deployment: Deployment) -> int:
        question = (deployment.provider, deployment.model)
        found = self._known.get(question)
        if found is None:
            found = self._known[question] = _look_up(*question)
        return found


def _look_up(provider: str, model: str) -> int:
    for name in _LISTS.get(provider, ()):
        try:
            _, listed = get_snapshot().find_provider_model(model, None, name, None)
        except LookupError:
            continue
        if listed.context_window:
            return listed.context_window
    return UNTOLD

"""Every provider that the batch suites ask. A new one adds its line, and a module beside this one."""

from typing import Final

import pytest

from tests.contract.batching import anthropic, openai, vertex
from tests.contract.batching.compatible import compatible
from tests.contract.batching.memory import memory
from tests.contract.batching.mistral import mistral

PROVIDERS: Final = [
    pytest.param(memory, id="memory"),
    pytest.param(openai.azure(), id="azure_openai", marks=pytest.mark.stack),
    pytest.param(
        openai.azure(api_version="2024-10-21"), id="azure_openai, dated paths", marks=pytest.mark.stack
    ),
    pytest.param(
        openai.own_storage(),
        id="azure_openai, own storage",
        marks=(pytest.mark.stack, pytest.mark.azurite),
    ),
    pytest.param(anthropic.anthropic(), id="anthropic", marks=pytest.mark.stack),
    pytest.param(openai.openai(), id="openai", marks=pytest.mark.stack),
    pytest.param(compatible, id="openai_compatible", marks=pytest.mark.stack),
    pytest.param(mistral(), id="mistral", marks=pytest.mark.stack),
    pytest.param(vertex.vertex(), id="vertex", marks=pytest.mark.stack),
]

"""Every provider that the batch suites ask. A new one adds its line, and a module beside this one."""

from typing import Final

import pytest

from tests.contract.batching import anthropic, openai
from tests.contract.batching.memory import memory

PROVIDERS: Final = [
    pytest.param(memory, id="memory"),
    pytest.param(openai.azure(), id="azure_openai", marks=pytest.mark.stack),
    pytest.param(
        openai.azure(api_version="2024-10-21"), id="azure_openai, dated paths", marks=pytest.mark.stack
    ),
    pytest.param(anthropic.anthropic(), id="anthropic", marks=pytest.mark.stack),
    pytest.param(openai.openai(), id="openai", marks=pytest.mark.stack),
]

"""The world of these tests: the edge answers out of it."""

import pytest

from shared.triggers import edge
from tests.support.openai_world import OpenAIWorld


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> OpenAIWorld:
    world = OpenAIWorld()
    monkeypatch.setattr(edge, "application", lambda: world.app)
    return world

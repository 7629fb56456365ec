"""Deployments to providers."""

import importlib
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType

import pytest

from shared.adapters.providers.connection import Connection
from shared.adapters.providers.registry import ProviderRegistry
from shared.domain.catalog import Deployment, DeploymentLimits
from shared.domain.errors import GiveUp, NotAdmitted
from shared.domain.ids import DeploymentName

DEPLOYMENT = Deployment(
    name=DeploymentName("mini-batch"),
    provider="azure_openai",
    model="gpt-5-mini",
    deployment="mini",
    endpoint="http://127.0.0.1:1",
    key_setting="KEY",
)


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
async def registry() -> AsyncIterator[ProviderRegistry]:
    made = ProviderRegistry(Connection(clock=StoppedClock(), key=lambda name: "k"))
    yield made
    await made.close()


async def test_the_same_deployment_has_the_same_provider(registry: ProviderRegistry) -> None:
    assert registry.batch(DEPLOYMENT) is registry.batch(replace(DEPLOYMENT))


async def test_a_changed_deployment_has_a_new_one(registry: ProviderRegistry) -> None:
    first = registry.batch(DEPLOYMENT)

    changed = registry.batch(replace(DEPLOYMENT, limits=DeploymentLimits(enqueued_tokens=1)))

    assert changed is not first
    assert registry.batch(replace(DEPLOYMENT, limits=DeploymentLimits(enqueued_tokens=1))) is changed


async def test_an_unknown_provider_is_named_together_with_the_known_ones(registry: ProviderRegistry) -> None:
    with pytest.raises(GiveUp, match=r"'mini-batch'.*'acme'.*azure_openai"):
        registry.batch(replace(DEPLOYMENT, provider="acme"))


async def test_without_key_and_identity_nobody_is_let_in(registry: ProviderRegistry) -> None:
    with pytest.raises(NotAdmitted, match="identity"):
        registry.batch(replace(DEPLOYMENT, key_setting=None))


async def test_closing_twice_is_fine(registry: ProviderRegistry) -> None:
    registry.batch(DEPLOYMENT)

    await registry.close()
    await registry.close()


def test_no_sdk_is_imported_before_a_deployment_needs_it() -> None:
    program = "import sys, shared.adapters.providers.registry; print('openai' in sys.modules)"

    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert told.stdout.strip() == "False"


async def test_what_takes_long_to_load_is_loaded_beside_the_event_loop(
    registry: ProviderRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    load = importlib.import_module

    def noting(name: str) -> ModuleType:
        threads.append(threading.get_ident())
        return load(name)

    monkeypatch.setattr(importlib, "import_module", noting)
    await registry.prepare(DEPLOYMENT)

    assert threads
    assert threading.get_ident() not in threads
    threads.clear()
    registry.batch(DEPLOYMENT)
    threads.clear()
    await registry.prepare(DEPLOYMENT)
    assert threads == []

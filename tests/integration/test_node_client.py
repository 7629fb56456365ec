"""The official client for Node does the same against Postern as against the provider, and gets the same."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.provider import Provider
from tests.integration.test_openai_client import differences, plain
from tests.support.azurite import ROOT

pytestmark = pytest.mark.stack

SCRIPT = ROOT / "examples" / "openai_client.mjs"


def walked(base_url: str, key: str, model: str) -> dict[str, Any]:
    if shutil.which("node") is None:
        pytest.skip("the client for Node needs Node.js, which is not on the path")
    done = subprocess.run(
        ["node", str(SCRIPT), base_url, key, model, "0.1", "--json"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_postern_answers_the_client_for_node_as_the_provider_does(stack: Stack, provider: Provider) -> None:
    provider.answer("unanswerable", "error")
    there = walked(f"{stack.simulator}/openai/v1", "any", "gpt-4.1-mini")

    here = walked(f"{stack.http}/openai/v1", KEYS["clients"], "openai")

    assert len(here) > 30
    assert len(here["output rows"]) == 999
    assert list(here) == list(there)
    assert list(differences(plain(here), plain(there))) == []

"""What the processes find in their environment: a clean one, and for the host the app settings."""

from __future__ import annotations

import os
from pathlib import Path

from local.launcher.layout import Layout
from local.simulator import identity

BUILT_IN_CATALOG = Path(__file__).parent.parent / "catalog.yaml"
# All that is taken over from the caller: anything else could change what the stack does.
_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TERM")
_LOCAL_DEFAULTS = {
    "POSTERN_POLL_SECONDS": "1",
    "POSTERN_SWEEP_SCHEDULE": "*/5 * * * * *",
    "POSTERN_STUCK_SECONDS": "10",
    "POSTERN_CAPACITY_BACKOFF_SECONDS": "1",
    "POSTERN_CAPACITY_BACKOFF_MAX_SECONDS": "10",
    "POSTERN_CREATE_TIMEOUT_SECONDS": "5",
    "POSTERN_DOCUMENT_LEASE_SECONDS": "15",
    "POSTERN_DOCUMENT_BACKOFF_SECONDS": "1",
    "POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS": "10",
    "POSTERN_GATHER_SCHEDULE": "*/5 * * * * *",
}


def base_environment() -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, "PYTHONUNBUFFERED": "1"}


def app_settings(layout: Layout) -> dict[str, str]:
    """The app settings of the local stack; `layout.overrides` win."""
    settings = {
        "FUNCTIONS_WORKER_RUNTIME": "python",
        # Files of the OpenAI-compatible API may have 200 MB; the platform's own limit is 100 MB.
        "FUNCTIONS_REQUEST_BODY_SIZE_LIMIT": "220200960",
        "AzureWebJobsStorage": layout.storage,
        "POSTERN_STORAGE": layout.storage,
        "ServiceBusConnection": layout.servicebus,
        "POSTERN_EVENTS_ENDPOINT": f"{layout.simulator}/_sim/events/publish",
        "POSTERN_EVENTS_KEY": "local",
        "POSTERN_CATALOG": str(layout.catalog or BUILT_IN_CATALOG),
        "SIMULATOR_URL": layout.simulator,
        "SIMULATOR_KEY": "local",
        **_simulated(layout.simulator),
        **_LOCAL_DEFAULTS,
    }
    if not layout.sweep:
        settings["AzureWebJobs.sweep.Disabled"] = "true"
    return {**settings, **layout.overrides}


def _simulated(simulator: str) -> dict[str, str]:
    """What a catalogue made for Azure refers to, here: nothing leaves the machine unless somebody says so.

    The app's identity is asked for where a Function App has it, and SDKs look for their service where these say.
    """
    keys = ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY")
    return {
        "AZURE_OPENAI_BATCH_ENDPOINT": f"{simulator}/azure",
        "LLM_GATEWAY_ENDPOINT": f"{simulator}/azure",
        "OPENAI_BASE_URL": f"{simulator}/openai/v1",
        "ANTHROPIC_BASE_URL": f"{simulator}/anthropic",
        "IDENTITY_ENDPOINT": f"{simulator}/_sim{identity.PATH}",
        "IDENTITY_HEADER": identity.HEADER_VALUE,
        **dict.fromkeys(keys, "local"),
    }

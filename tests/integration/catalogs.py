"""The catalogue of the black-box tests, and the keys of its tenants."""

import hashlib
import json
from pathlib import Path
from typing import Any

KEYS = {
    "support": "support-black-box-key",
    "retail": "retail-black-box-key",
    "strict": "strict-black-box-key",
    "clients": "clients-black-box-key",
    "operators": "operators-black-box-key",
}

# Every kind of trouble that a whole deployment feels has a deployment of its own, so that it stays where it was made.
HOURS_ALIASES: dict[str, dict[str, Any]] = {
    "summarize": {"deployment": "gpt-5-mini-batch", "tokens": 50_000_000},
    "dated": {"deployment": "gpt-5-nano-batch", "tokens": 50_000_000, "api_version": "2024-10-21"},
    "crowded": {"deployment": "crowded-batch", "tokens": 50_000_000},
    "overfull": {"deployment": "overfull-batch", "tokens": 50_000_000},
    "locked": {"deployment": "locked-batch", "tokens": 50_000_000},
    "narrow": {"deployment": "narrow-batch", "tokens": 3_000},
    "queued": {"deployment": "queued-batch", "tokens": 3_000},
}
# One deployment of each further provider, for both lanes; the alias is called as the provider.
PROVIDERS: dict[str, dict[str, Any]] = {
    "anthropic": {"base_url": "${SIMULATOR_URL}/anthropic", "model": "claude-sonnet-5"},
    "mistral": {"base_url": "${SIMULATOR_URL}/mistral", "model": "mistral-small-latest"},
    "openai": {"base_url": "${SIMULATOR_URL}/openai/v1", "model": "gpt-4.1-mini"},
    "openai_compatible": {"base_url": "${SIMULATOR_URL}/compatible/v1", "model": "llama-3.3-70b"},
    "vertex": {
        "base_url": "${SIMULATOR_URL}/vertex",
        "storage_url": "${SIMULATOR_URL}/gcs",
        "project": "simulated",
        "location": "europe-west4",
        "bucket": "batches",
        "model": "gemini-3.8-flash",
    },
}


def write_catalog(folder: Path, **tenants: dict[str, Any]) -> Path:
    """A catalogue file in `folder`; `tenants` adds to or changes those that are always there."""
    file = folder / "catalog.yaml"
    # JSON is YAML, and cannot go wrong by indentation.
    file.write_text(json.dumps(_catalog() | {"tenants": _tenants() | tenants}, indent=1))
    return file


def digest(key: str) -> str:
    return f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"


def _tenants() -> dict[str, dict[str, Any]]:
    return {
        "support": {"keys": [digest(KEYS["support"])], "weight": 2},
        "retail": {"keys": [digest(KEYS["retail"])]},
        "strict": {"keys": [digest(KEYS["strict"])], "required_tags": ["project", "owner"]},
        "clients": {"keys": [digest(KEYS["clients"])]},
        "operators": {"keys": [digest(KEYS["operators"])], "admin": True},
    }


def _catalog() -> dict[str, Any]:
    deployments = {f"{alias}-hours": _batch(**place) for alias, place in HOURS_ALIASES.items()}
    aliases = {alias: {"hours": [f"{alias}-hours"], "max_output_tokens": 100} for alias in HOURS_ALIASES}
    elsewhere = {
        f"{name}-both": {"provider": name, "key_setting": "SIMULATOR_KEY", **place}
        for name, place in PROVIDERS.items()
    }
    others = {name: _both(f"{name}-both") for name in PROVIDERS}
    elsewhere["own-hours"] = {**_deployment("own-batch"), "storage": "own"}
    others["own-storage"] = {"hours": ["own-hours"], "max_output_tokens": 100}
    return {
        "deployments": {**deployments, **elsewhere, "vectors": _deployment("text-embedding-3-small")},
        "aliases": {**aliases, **others, "embed": {"minutes": ["vectors"]}},
        "pipelines": {
            "notes": {"task": "summarize", "alias": "openai", "lane": "minutes", "prompt": "Summarize this."}
        },
    }


def _both(deployment: str) -> dict[str, Any]:
    return {"minutes": [deployment], "hours": [deployment], "max_output_tokens": 100}


def _batch(*, deployment: str, tokens: int, api_version: str | None = None) -> dict[str, Any]:
    limits = {"enqueued_tokens": tokens}
    if api_version is None:
        return {**_deployment(deployment), "limits": limits}
    # Without a key the app's identity calls.
    keyless = {k: v for k, v in _deployment(deployment).items() if k != "key_setting"}
    endpoint = "${AZURE_OPENAI_BATCH_ENDPOINT}"
    return {**keyless, "endpoint": endpoint, "api_version": api_version, "limits": limits}


def _deployment(name: str) -> dict[str, Any]:
    return {
        "provider": "azure_openai",
        "endpoint": "${SIMULATOR_URL}/azure",
        "deployment": name,
        "model": "text-embedding-3-small" if name.startswith("text") else "gpt-5-mini",
        "key_setting": "SIMULATOR_KEY",
    }

"""What a figure cannot be understood without: versions, the machine's cores, and how busy it was."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final

_PACKAGES: Final = (
    "aiohttp",
    "azure-data-tables",
    "azure-functions-durable",
    "azure-functions-runtime",
    "azure-storage-blob",
    "fastapi",
    "jsonschema-rs",
    "msgspec",
    "openai",
    "toktok-rs",
)


def machine() -> dict[str, object]:
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "versions": {name: version(name) for name in _PACKAGES},
    }


def load() -> float:
    """Processes that wanted a core during the last minute. Above `cores`, times say little."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0

"""host.json and the app settings, as far as the host obeys them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from local.host.functions import CannotServe

DEFAULT_TIME_LIMIT = timedelta(minutes=30)
UNLIMITED = timedelta(days=365)
DEFAULT_CONCURRENT_WORK_ITEMS = 10
DEFAULT_BODY_LIMIT = 104_857_600
DEFAULT_CONCURRENT_CALLS = 16
DEFAULT_LOCK_RENEWAL = "00:05:00"
DEFAULT_CONCURRENT_BLOBS = 8
DEFAULT_BLOB_TRIES = 5
_PLACEHOLDER = re.compile(r"%([^%\s]+)%")
_TRUE = frozenset({"1", "true"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceBusLimits:
    """Of each function. The platform multiplies `concurrent_calls` by the number of cores; this host does not."""

    concurrent_calls: int
    prefetch: int
    renew_for: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobLimits:
    """`concurrent` for all functions together; after `tries` failures an event is poison."""

    concurrent: int
    tries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """Read once at start. `settings` are the app settings, which is the process's environment."""

    settings: Mapping[str, str]
    route_prefix: str
    time_limit: timedelta
    concurrent_activities: int
    concurrent_orchestrations: int
    max_body_bytes: int
    service_bus: ServiceBusLimits
    blobs: BlobLimits

    def resolve(self, text: str) -> str:
        """Replace every `%NAME%` by that setting. Raises `CannotServe` when one is missing."""

        def value(match: re.Match[str]) -> str:
            name = match.group(1)
            if name not in self.settings:
                raise CannotServe(f"the app setting {name} that {text!r} refers to is not set")
            return self.settings[name]

        return _PLACEHOLDER.sub(value, text)

    def connection(self, name: str) -> str:
        """The connection string that a binding means by `name`. Raises `CannotServe` when there is none."""
        value = self.settings.get(name) or self.settings.get(f"AzureWebJobs{name}")
        if not value:
            raise CannotServe(f"the app setting {name} with the connection string is not set")
        return value

    def is_disabled(self, function_name: str) -> bool:
        """`AzureWebJobs.NAME.Disabled`, or the same with underscores where dots are not allowed."""
        keys = (f"AzureWebJobs.{function_name}.Disabled", f"AzureWebJobs_{function_name}_Disabled")
        return any(self.settings.get(key, "").lower() in _TRUE for key in keys)


def read_configuration(app: Path, settings: Mapping[str, str]) -> Configuration:
    """`app/host.json` with the platform's defaults; without a file all are. Raises `ValueError`."""
    content = _read_json(app / "host.json")
    durable = _section(content, "extensions", "durableTask")
    return Configuration(
        settings=settings,
        route_prefix=_section(content, "extensions", "http").get("routePrefix", "api").strip("/"),
        time_limit=_time_limit(content.get("functionTimeout")),
        concurrent_activities=durable.get("maxConcurrentActivityFunctions", DEFAULT_CONCURRENT_WORK_ITEMS),
        concurrent_orchestrations=durable.get(
            "maxConcurrentOrchestratorFunctions", DEFAULT_CONCURRENT_WORK_ITEMS
        ),
        max_body_bytes=int(settings.get("FUNCTIONS_REQUEST_BODY_SIZE_LIMIT", DEFAULT_BODY_LIMIT)),
        service_bus=_service_bus_limits(_section(content, "extensions", "serviceBus")),
        blobs=_blob_limits(_section(content, "extensions", "blobs")),
    )


def parse_span(text: str) -> timedelta:
    """`[d.]hh:mm:ss[.fff]`, the notation of host.json. Raises `ValueError`."""
    match = re.fullmatch(r"(?:(\d+)\.)?(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a time span such as 00:05:00")
    days, hours, minutes, seconds = match.groups()
    return timedelta(days=int(days or 0), hours=int(hours), minutes=int(minutes), seconds=float(seconds or 0))


def _service_bus_limits(section: Mapping[str, Any]) -> ServiceBusLimits:
    return ServiceBusLimits(
        concurrent_calls=section.get("maxConcurrentCalls", DEFAULT_CONCURRENT_CALLS),
        prefetch=section.get("prefetchCount", 0),
        renew_for=parse_span(section.get("maxAutoLockRenewalDuration", DEFAULT_LOCK_RENEWAL)),
    )


def _blob_limits(section: Mapping[str, Any]) -> BlobLimits:
    return BlobLimits(
        concurrent=section.get("maxDegreeOfParallelism", DEFAULT_CONCURRENT_BLOBS),
        tries=section.get("poisonBlobThreshold", DEFAULT_BLOB_TRIES),
    )


def _read_json(file: Path) -> Mapping[str, Any]:
    if not file.exists():
        return {}
    try:
        content = json.loads(file.read_bytes())
    except ValueError as exc:
        raise ValueError(f"{file} is not JSON: {exc}") from exc
    return dict(content)


def _time_limit(text: str | None) -> timedelta:
    if text is None:
        return DEFAULT_TIME_LIMIT
    return UNLIMITED if text == "-1" else parse_span(text)


def _section(content: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        content = content.get(name) or {}
    return content

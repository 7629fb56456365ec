"""The app settings: their names, what they mean, and the only parser.

Knows no environment: the composition root hands the mapping in.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from shared.settings.names import NAMES, Name

__all__ = ["NAMES", "BadSettings", "BlobAddress", "Name", "Settings", "blob_address", "is_safe_url"]

_HOST: Final = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_SCHEDULE: Final = re.compile(r"[0-9*/,\-a-zA-Z]+(?: [0-9*/,\-a-zA-Z]+){4,5}")


class BadSettings(ValueError):
    """Every problem at once; names, never the value of a secret."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("app settings: " + "; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobAddress:
    """A blob by its account's endpoint and its `container/name`."""

    account: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageSettings:
    """Either the connection string, or both endpoints to be reached with an identity."""

    connection_string: str | None = field(default=None, repr=False)
    blob_endpoint: str | None = None
    table_endpoint: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BusSettings:
    """Either the connection string, or the namespace to be reached with an identity."""

    connection_string: str | None = field(default=None, repr=False)
    namespace: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsSettings:
    endpoint: str
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntraSettings:
    issuer: str
    audience: str
    jwks_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the app was told. `events` and `entra` None: not in use."""

    catalog: Path | BlobAddress
    storage: StorageSettings
    bus: BusSettings
    poll_every: timedelta
    job_deadline: timedelta
    sweep_schedule: str
    stuck_after: timedelta
    max_attempts: int
    first_capacity_wait: timedelta
    longest_capacity_wait: timedelta
    create_timeout: timedelta
    lapse_margin: timedelta
    keep_results: timedelta
    document_lease: timedelta
    first_document_wait: timedelta
    longest_document_wait: timedelta
    document_patience: timedelta
    document_late: timedelta
    max_instances: int
    gather_schedule: str
    events: EventsSettings | None
    entra: EntraSettings | None
    openai_scope: str

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Raise `BadSettings` naming every problem. A blank value counts as not set."""
        reader = _Reader(env)
        settings = cls(
            catalog=reader.catalog(),
            storage=reader.storage(),
            bus=reader.bus(),
            poll_every=reader.seconds("POSTERN_POLL_SECONDS"),
            job_deadline=timedelta(hours=reader.number("POSTERN_JOB_DEADLINE_HOURS", most=24 * 366)),
            sweep_schedule=reader.schedule("POSTERN_SWEEP_SCHEDULE"),
            stuck_after=reader.seconds("POSTERN_STUCK_SECONDS"),
            max_attempts=reader.whole("POSTERN_MAX_ATTEMPTS", most=20),
            first_capacity_wait=reader.seconds("POSTERN_CAPACITY_BACKOFF_SECONDS"),
            longest_capacity_wait=reader.seconds("POSTERN_CAPACITY_BACKOFF_MAX_SECONDS"),
            create_timeout=reader.seconds("POSTERN_CREATE_TIMEOUT_SECONDS", most=600),
            lapse_margin=timedelta(days=reader.number("POSTERN_LAPSE_DAYS", most=366)),
            keep_results=timedelta(days=reader.number("POSTERN_RESULT_DAYS", most=36_600)),
            document_lease=reader.seconds("POSTERN_DOCUMENT_LEASE_SECONDS", most=3600),
            first_document_wait=reader.seconds("POSTERN_DOCUMENT_BACKOFF_SECONDS"),
            longest_document_wait=reader.seconds("POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS"),
            document_patience=reader.seconds("POSTERN_DOCUMENT_PATIENCE_SECONDS"),
            document_late=reader.seconds("POSTERN_DOCUMENT_LATE_SECONDS"),
            max_instances=reader.whole("POSTERN_MAX_INSTANCES", most=1000),
            gather_schedule=reader.schedule("POSTERN_GATHER_SCHEDULE"),
            events=reader.events(),
            entra=reader.entra(),
            openai_scope=reader.text("POSTERN_OPENAI_SCOPE"),
        )
        if settings.first_capacity_wait > settings.longest_capacity_wait:
            reader.problem("POSTERN_CAPACITY_BACKOFF_MAX_SECONDS", "must not be below the first wait")
        if settings.first_document_wait > settings.longest_document_wait:
            reader.problem("POSTERN_DOCUMENT_BACKOFF_MAX_SECONDS", "must not be below the first wait")
        if reader.problems:
            raise BadSettings(tuple(reader.problems))
        return settings


class _Reader:
    """Reads on after a problem, with a harmless stand-in, so that all of them are found."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.problems: list[str] = []

    def problem(self, name: str, reason: str) -> None:
        self.problems.append(f"{name} {reason}")

    def text(self, name: str) -> str:
        known = NAMES[name]
        value = self._env.get(name, "").strip() or known.default
        if value is None:
            self.problem(name, "is missing")
        return value or ""

    def optional(self, name: str) -> str | None:
        return self.text(name) or None

    def number(self, name: str, *, most: float) -> float:
        value = self.text(name)
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number <= most:
            self.problem(name, f"must be a number above 0, at most {most}, not {value!r}")
            return 1
        return number

    def whole(self, name: str, *, most: int) -> int:
        value = self.text(name)
        if not (value.isascii() and value.isdigit() and len(value) < 10 and 1 <= int(value) <= most):
            self.problem(name, f"must be a whole number from 1 to {most}, not {value!r}")
            return 1
        return int(value)

    def seconds(self, name: str, *, most: int = 7 * 24 * 3600) -> timedelta:
        return timedelta(seconds=self.number(name, most=most))

    def schedule(self, name: str) -> str:
        value = self.text(name)
        if not _SCHEDULE.fullmatch(value):
            self.problem(name, f"must be six cron fields such as '0 */5 * * * *', not {value!r}")
        return value

    def url(self, name: str) -> str | None:
        value = self.optional(name)
        if value is not None and not is_safe_url(value):
            self.problem(name, "must be an https URL without credentials or query (http on loopback only)")
        return value

    def catalog(self) -> Path | BlobAddress:
        value = self.text("POSTERN_CATALOG")
        if "://" not in value:
            return Path(value)
        address = blob_address(value)
        if address is None:
            self.problem(
                "POSTERN_CATALOG",
                "must be a path or https://ACCOUNT/CONTAINER/NAME without a query; "
                "the app's identity reads it, so no SAS is needed",
            )
        return address or Path()

    def storage(self) -> StorageSettings:
        string = self.optional("POSTERN_STORAGE")
        blob, table = (
            self.url("POSTERN_STORAGE__blobServiceUri"),
            self.url("POSTERN_STORAGE__tableServiceUri"),
        )
        if string and (blob or table):
            self.problem("POSTERN_STORAGE", "and the two service URIs exclude each other: set one kind only")
        elif not string and not (blob and table):
            self.problem(
                "POSTERN_STORAGE",
                "is missing: set it, or POSTERN_STORAGE__blobServiceUri and POSTERN_STORAGE__tableServiceUri",
            )
        return StorageSettings(
            connection_string=string,
            blob_endpoint=blob,
            table_endpoint=table,
            client_id=self.optional("POSTERN_STORAGE__clientId"),
        )

    def bus(self) -> BusSettings:
        name = "ServiceBusConnection__fullyQualifiedNamespace"
        string, namespace = self.optional("ServiceBusConnection"), self.optional(name)
        if string and namespace:
            self.problem("ServiceBusConnection", f"and {name} exclude each other: set one of them only")
        elif not string and not namespace:
            self.problem("ServiceBusConnection", f"is missing: set it, or {name}")
        if namespace is not None and not _HOST.fullmatch(namespace):
            self.problem(name, "must be a host name such as NAME.servicebus.windows.net, without sb://")
        return BusSettings(
            connection_string=string,
            namespace=namespace,
            client_id=self.optional("ServiceBusConnection__clientId"),
        )

    def events(self) -> EventsSettings | None:
        endpoint, key = self.url("POSTERN_EVENTS_ENDPOINT"), self.optional("POSTERN_EVENTS_KEY")
        if key and not endpoint:
            self.problem("POSTERN_EVENTS_ENDPOINT", "is missing although POSTERN_EVENTS_KEY is set")
        return EventsSettings(endpoint=endpoint, key=key) if endpoint else None

    def entra(self) -> EntraSettings | None:
        issuer, jwks_url = self.url("POSTERN_ENTRA_ISSUER"), self.url("POSTERN_ENTRA_JWKS_URL")
        audience = self.optional("POSTERN_ENTRA_AUDIENCE")
        if not (issuer or audience or jwks_url):
            return None
        for name, value in (("POSTERN_ENTRA_ISSUER", issuer), ("POSTERN_ENTRA_AUDIENCE", audience)):
            if not value:
                self.problem(name, "is missing: Entra tokens need both an issuer and an audience")
        return EntraSettings(issuer=issuer or "", audience=audience or "", jwks_url=jwks_url)


def is_safe_url(value: str) -> bool:
    """https, or http on loopback; a host; no user, no query, no fragment, no blanks."""
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or not value.isascii() or not value.isprintable() or " " in value or "\\" in value:
        return False
    if parts.username is not None or "?" in value or "#" in value:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def blob_address(url: str) -> BlobAddress | None:
    """The blob behind `url`; None if it names none. On loopback the account is the path's first part."""
    if not is_safe_url(url):
        return None
    parts = urlsplit(url)
    account, path = f"{parts.scheme}://{parts.netloc}", unquote(parts.path).lstrip("/")
    if is_loopback(parts.hostname or ""):
        name, _, path = path.partition("/")
        account = f"{account}/{name}"
    container, _, name = path.partition("/")
    return BlobAddress(account=account, path=path) if container and name else None

"""Which queues there are and who may use them: read once, at start.

A queue's fields carry the names they have in `Microsoft.ServiceBus/namespaces/queues`, durations in ISO 8601:

    {"queues": {"documents": {"lockDuration": "PT5M", "maxDeliveryCount": 5}},
     "policies": {"sender": {"key": "...", "rights": ["Send"]}}}
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import msgspec

DEFAULT_POLICY = "RootManageSharedAccessKey"
# Microsoft's own emulator has the same public placeholder: it guards nothing but loopback.
DEFAULT_KEY = "SAS_KEY_VALUE"


class Right(StrEnum):
    MANAGE = "Manage"
    SEND = "Send"
    LISTEN = "Listen"


class Queue(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    lock_duration: timedelta = timedelta(minutes=5)
    max_delivery_count: int = 5
    requires_duplicate_detection: bool = True
    duplicate_detection_history_time_window: timedelta = timedelta(hours=1)
    dead_lettering_on_message_expiration: bool = True
    default_message_time_to_live: timedelta | None = None
    max_message_size_in_kilobytes: int = 256


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`Manage` includes the other two."""

    key: str
    rights: frozenset[Right]

    def allows(self, right: Right) -> bool:
        return right in self.rights or Right.MANAGE in self.rights


def default_queues() -> Mapping[str, Queue]:
    return {"documents": Queue(), "storage-events": Queue()}


def default_policies() -> Mapping[str, Policy]:
    return {DEFAULT_POLICY: Policy(key=DEFAULT_KEY, rights=frozenset({Right.MANAGE}))}


class Definitions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    queues: Mapping[str, Queue] = msgspec.field(default_factory=default_queues)
    policies: Mapping[str, Policy] = msgspec.field(default_factory=default_policies)


def read_definitions(path: Path | None) -> Definitions:
    """`ValueError` names the file and the field that is wrong."""
    if path is None:
        return Definitions()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Definitions)
    except msgspec.DecodeError as exc:
        raise ValueError(f"{path}: {exc}") from exc


def connection_string(port: int, *, policy: str = DEFAULT_POLICY, key: str = DEFAULT_KEY) -> str:
    """What `ServiceBusClient.from_connection_string` takes."""
    return (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName={policy};SharedAccessKey={key};"
        "UseDevelopmentEmulator=true"
    )

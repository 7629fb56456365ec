"""Where everything of one stack is: folder, ports, addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local.servicebus.definitions import connection_string

PORT_NAMES = ("http", "simulator", "servicebus", "feed", "blob", "queue", "table")
# The account and key that every Azurite has: published by Microsoft, good on loopback only.
_ACCOUNT = "devstoreaccount1"
_ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """`catalog` and `app` None mean the built-in ones; `overrides` are settings given on the command line."""

    data: Path
    ports: Mapping[str, int]
    catalog: Path | None = None
    app: Path | None = None
    sweep: bool = True
    overrides: Mapping[str, str] = field(default_factory=dict)

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.ports['http']}"

    @property
    def simulator(self) -> str:
        return f"http://127.0.0.1:{self.ports['simulator']}"

    @property
    def feed(self) -> str:
        return f"http://127.0.0.1:{self.ports['feed']}"

    @property
    def storage(self) -> str:
        """The connection string of the storage account."""
        endpoints = ";".join(
            f"{kind.capitalize()}Endpoint=http://127.0.0.1:{self.ports[kind]}/{_ACCOUNT}"
            for kind in ("blob", "queue", "table")
        )
        return f"DefaultEndpointsProtocol=http;AccountName={_ACCOUNT};AccountKey={_ACCOUNT_KEY};{endpoints};"

    @property
    def servicebus(self) -> str:
        """The connection string of the Service Bus namespace."""
        return connection_string(self.ports["servicebus"])

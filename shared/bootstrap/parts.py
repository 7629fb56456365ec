"""Everything the use cases ask of the outside."""

from dataclasses import dataclass

from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock, Sleep
from shared.ports.events import Events
from shared.ports.extractor import Extractor
from shared.ports.identity import TokenVerifier
from shared.ports.models import Models
from shared.ports.prices import Prices
from shared.ports.providers import Providers
from shared.ports.queue import Queue
from shared.ports.schemas import Schemas
from shared.ports.splitter import Splitter
from shared.ports.tables import Tables
from shared.ports.tokens import Tokens
from shared.ports.windows import Windows
from shared.services.policy import Policy

DOCUMENTS_QUEUE = "documents"
STORAGE_EVENTS_QUEUE = "storage-events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything the use cases ask of the outside."""

    tables: Tables
    blobs: Blobs
    events: Events
    clock: Clock
    sleep: Sleep
    catalog: CatalogSource
    providers: Providers
    models: Models
    queue: Queue
    prices: Prices
    tokens: Tokens
    splitter: Splitter
    windows: Windows
    schemas: Schemas
    extractor: Extractor
    verifier: TokenVerifier | None
    policy: Policy

"""Where ports meet the adapters of the deployed app."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from shared.adapters.azure.blobs import AzureBlobs
from shared.adapters.azure.clock import SystemClock
from shared.adapters.azure.connections import (
    EventTopic,
    Identity,
    StorageAccount,
    StorageConnection,
    TopicConnection,
)
from shared.adapters.azure.events import EventGridEvents, NoEvents
from shared.adapters.azure.model_tokens import ModelTokens
from shared.adapters.azure.service_bus import AzureServiceBusQueue, BusNamespace
from shared.adapters.azure.tables import AzureTables
from shared.adapters.entra.tokens import EntraTokens
from shared.adapters.extract.extractor import ForkExtractor
from shared.adapters.files.catalog_blob import CatalogBlob
from shared.adapters.files.catalog_file import CatalogFile
from shared.adapters.pricing.genai import GenaiPrices
from shared.adapters.pricing.windows import GenaiWindows
from shared.adapters.providers.connection import Connection
from shared.adapters.providers.model_registry import ModelRegistry
from shared.adapters.providers.registry import ProviderRegistry
from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.adapters.text.splitter import SemanticSplitter
from shared.adapters.text.tokens import ToktokTokens
from shared.bootstrap.parts import DOCUMENTS_QUEUE, Parts
from shared.domain.waits import Backoff
from shared.ports.blobs import Blobs
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock
from shared.ports.events import Events
from shared.ports.identity import TokenVerifier
from shared.services.policy import Policy
from shared.settings import BlobAddress, Settings


def real_parts(env: Mapping[str, str]) -> Parts:
    """The parts of the deployed app. Nothing is connected before its first use."""
    settings = Settings.from_env(env)
    clock = SystemClock()
    storage = StorageConnection(_account(settings))
    blobs = AzureBlobs(storage, clock)
    tokens = ToktokTokens()
    connection = Connection(
        key=env.__getitem__,
        token=ModelTokens(_identity(settings)),
        create_timeout=settings.create_timeout,
        openai_scope=settings.openai_scope,
        clock=clock,
        blobs=blobs,
    )
    return Parts(
        tables=AzureTables(storage),
        blobs=blobs,
        events=_events(settings),
        clock=clock,
        sleep=asyncio.sleep,
        catalog=_catalog(settings, env, blobs, clock),
        providers=ProviderRegistry(connection),
        models=ModelRegistry(connection),
        queue=AzureServiceBusQueue(_bus(settings), DOCUMENTS_QUEUE, clock),
        prices=GenaiPrices(),
        tokens=tokens,
        splitter=SemanticSplitter(tokens),
        windows=GenaiWindows(),
        schemas=JsonschemaRsSchemas(),
        extractor=ForkExtractor(),
        verifier=_verifier(settings, clock),
        policy=policy_of(settings),
    )


def policy_of(settings: Settings) -> Policy:
    return Policy(
        poll=settings.poll_every,
        job_deadline=settings.job_deadline,
        stuck_after=settings.stuck_after,
        max_attempts=settings.max_attempts,
        capacity=Backoff(first=settings.first_capacity_wait, longest=settings.longest_capacity_wait),
        create_timeout=settings.create_timeout,
        lapse=settings.lapse_margin,
        keep_results=settings.keep_results,
        document_lease=settings.document_lease,
        document_wait=Backoff(first=settings.first_document_wait, longest=settings.longest_document_wait),
        document_patience=settings.document_patience,
        document_late=settings.document_late,
        max_instances=settings.max_instances,
    )


def _identity(settings: Settings) -> Identity:
    client_id = settings.storage.client_id
    return Identity(client_id=client_id, managed=client_id is not None)


def _account(settings: Settings) -> StorageAccount:
    return StorageAccount(
        connection_string=settings.storage.connection_string,
        blob_url=settings.storage.blob_endpoint,
        table_url=settings.storage.table_endpoint,
        identity=_identity(settings),
    )


def _bus(settings: Settings) -> BusNamespace:
    client_id = settings.bus.client_id
    return BusNamespace(
        connection_string=settings.bus.connection_string,
        host=settings.bus.namespace,
        identity=Identity(client_id=client_id, managed=client_id is not None),
    )


def _events(settings: Settings) -> Events:
    if settings.events is None:
        return NoEvents()
    topic = EventTopic(
        endpoint=settings.events.endpoint, key=settings.events.key, identity=_identity(settings)
    )
    return EventGridEvents(TopicConnection(topic))


def _catalog(settings: Settings, env: Mapping[str, str], blobs: Blobs, clock: Clock) -> CatalogSource:
    if isinstance(settings.catalog, Path):
        return CatalogFile(settings.catalog, env=env, clock=clock)
    return CatalogBlob(
        _blobs_of(settings, settings.catalog, blobs, clock), settings.catalog.path, env=env, clock=clock
    )


def _blobs_of(settings: Settings, address: BlobAddress, blobs: Blobs, clock: Clock) -> Blobs:
    """The catalogue may lie in an account of its own."""
    if address.account.rstrip("/") == (settings.storage.blob_endpoint or "").rstrip("/"):
        return blobs
    account = StorageAccount(
        blob_url=address.account, table_url=address.account, identity=_identity(settings)
    )
    return AzureBlobs(StorageConnection(account), clock)


def _verifier(settings: Settings, clock: Clock) -> TokenVerifier | None:
    if settings.entra is None:
        return None
    return EntraTokens(
        issuer=settings.entra.issuer,
        audience=settings.entra.audience,
        jwks_url=settings.entra.jwks_url,
        clock=clock,
    )

"""Dropped documents: a blob appears, a claim check is delivered, an event comes by queue, a cron fires."""

import azure.durable_functions as df
import azure.functions as func
import azurefunctions.extensions.bindings.blob as blob

from shared.adapters.azure.orchestrations import DurableOrchestrations
from shared.bootstrap import application
from shared.bootstrap.parts import DOCUMENTS_QUEUE, STORAGE_EVENTS_QUEUE
from shared.wire.paths import DOCUMENTS

blueprint = df.Blueprint(http_auth_level=func.AuthLevel.ANONYMOUS)


# A client is a reference: with any other type the host would download the blob into the invocation.
@blueprint.blob_trigger(
    arg_name="document",
    path=f"{DOCUMENTS}/{{name}}",
    connection="POSTERN_STORAGE",
    source=func.BlobSource.EVENT_GRID,
)
async def claim_document(document: blob.BlobClient) -> None:
    await application().claim_document(f"{document.container_name}/{document.blob_name}")


@blueprint.service_bus_queue_trigger(
    arg_name="message", connection="ServiceBusConnection", queue_name=DOCUMENTS_QUEUE
)
async def process_document(message: func.ServiceBusMessage) -> None:
    await application().process_document(message.get_body())


@blueprint.service_bus_queue_trigger(
    arg_name="message", connection="ServiceBusConnection", queue_name=STORAGE_EVENTS_QUEUE
)
@blueprint.durable_client_input(client_name="client")
async def storage_event(message: func.ServiceBusMessage, client: df.DurableFunctionsClient) -> None:
    await application().take_storage_events(message.get_body(), DurableOrchestrations(client))


@blueprint.timer_trigger(arg_name="timer", schedule="%POSTERN_GATHER_SCHEDULE%")
@blueprint.durable_client_input(client_name="client")
async def gather_documents(timer: func.TimerRequest, client: df.DurableFunctionsClient) -> None:
    await application().gather_documents(DurableOrchestrations(client))

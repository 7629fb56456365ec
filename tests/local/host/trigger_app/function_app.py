"""A function app with blob and Service Bus triggers. What they are given is written to SAMPLE_LOG.

A blob's or message's behaviour is asked for by its name or body.
"""

import asyncio
import json
import os
import time
from collections import Counter
from pathlib import Path

import aiohttp
import azure.functions as func
import azurefunctions.extensions.bindings.blob as blob

app = func.FunctionApp()
tries: Counter[str] = Counter()
running = 0
left_open: list[aiohttp.ClientSession] = []


def record(function: str, **values: object) -> None:
    """Append one line that a test can read."""
    with Path(os.environ["SAMPLE_LOG"]).open("a") as log:
        log.write(json.dumps({"function": function, "at": time.time(), **values}, default=str) + "\n")


@app.blob_trigger(
    arg_name="document",
    path="documents/{name}",
    connection="POSTERN_STORAGE",
    source=func.BlobSource.EVENT_GRID,
)
async def claim_document(document: blob.BlobClient) -> None:
    name = document.blob_name
    tries[name] += 1
    record("claim_document", container=document.container_name, name=name, attempt=tries[name])
    if "hangs" in name:
        await asyncio.sleep(15)
    if "fails" in name or ("stumbles" in name and tries[name] < 3):
        raise RuntimeError("this blob is not wanted")


@app.blob_trigger(
    arg_name="text",
    path="%SAMPLE_CONTAINER%/{folder}/{file}.{extension}",
    connection="POSTERN_STORAGE",
    source=func.BlobSource.EVENT_GRID,
)
def read(text: func.InputStream) -> None:
    record(
        "read",
        name=text.name,
        uri=text.uri,
        length=text.length,
        metadata=text.metadata,  # type: ignore[attr-defined]  # the base class lacks them
        type=text.blob_properties["ContentType"],  # type: ignore[attr-defined]
        content=text.read().decode(),
    )


@app.blob_trigger(arg_name="text", path="scanned/{name}", connection="POSTERN_STORAGE")
def scanned(text: func.InputStream) -> None:
    record("scanned")


@app.service_bus_queue_trigger(
    arg_name="message", connection="ServiceBusConnection", queue_name="%SAMPLE_QUEUE%"
)
async def process(message: func.ServiceBusMessage) -> None:
    global running
    running += 1
    try:
        await obey(message)
    finally:
        running -= 1


async def obey(message: func.ServiceBusMessage) -> None:
    order = json.loads(message.get_body())
    record("process", running=running, **order, **description(message))
    await asyncio.sleep(order.get("sleep", 0))
    if message.delivery_count == 1:
        await asyncio.sleep(order.get("sleep_first", 0))
    if order.get("fail"):
        raise RuntimeError("this message is not wanted")
    record("processed", id=order["id"])
    if order.get("leave_open"):
        left_open.append(aiohttp.ClientSession())


def description(message: func.ServiceBusMessage) -> dict[str, object]:
    return {
        "message_id": message.message_id,
        "delivery_count": message.delivery_count,
        "correlation_id": message.correlation_id,
        "content_type": message.content_type,
        "subject": message.subject,
        "properties": message.application_properties,
        "user_properties": message.user_properties,
        "enqueued": message.enqueued_time_utc.timestamp() if message.enqueued_time_utc else None,
        "locked_until": message.locked_until.timestamp() if message.locked_until else None,
        "sequence_number": message.sequence_number,
        "lock_token": message.lock_token,
        "metadata": sorted(message.metadata or {}),
    }


@app.service_bus_queue_trigger(
    arg_name="message", connection="ServiceBusConnection", queue_name="%SAMPLE_QUEUE%"
)
async def switched_off(message: func.ServiceBusMessage) -> None:
    record("switched_off")


@app.service_bus_topic_trigger(
    arg_name="message",
    connection="ServiceBusConnection",
    topic_name="topic",
    subscription_name="subscription",
)
async def on_topic(message: func.ServiceBusMessage) -> None:
    record("on_topic")

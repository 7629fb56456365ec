"""`GET /queues` and `GET /queues/{name}` on the AMQP port: what is in the queues, as JSON. Read only."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from urllib.parse import unquote

from local.servicebus.broker import Broker
from local.servicebus.errors import Refused

HEAD_END = b"\r\n\r\n"
MAX_HEAD_BYTES = 16384


class CountsConnection(asyncio.Protocol):
    """One request, one answer, then the connection closes."""

    def __init__(self, answer: Callable[[str], tuple[HTTPStatus, object]]) -> None:
        self._answer = answer
        self._head = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._head += data
        if self._transport is None or self._transport.is_closing():
            return
        if HEAD_END in self._head:
            target = self._head.partition(b" ")[2].partition(b" ")[0].decode("ascii", "replace")
            self._transport.write(_response(*self._answer(target)))
            self._transport.close()
        elif len(self._head) > MAX_HEAD_BYTES:
            self._transport.close()


class ShowCounts:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def __call__(self, target: str) -> tuple[HTTPStatus, object]:
        collection, _, name = unquote(target.partition("?")[0]).strip("/").partition("/")
        if collection != "queues":
            return HTTPStatus.NOT_FOUND, {"detail": "There is /queues and /queues/{name}."}
        if not name:
            return HTTPStatus.OK, {"queues": [self._queue(each) for each in self._broker.queue_names]}
        try:
            return HTTPStatus.OK, self._queue(name)
        except Refused as refused:
            return HTTPStatus.NOT_FOUND, {"detail": refused.description}

    def _queue(self, name: str) -> dict[str, object]:
        return {"name": name, **asdict(self._broker.counts(self._broker.entity(name)))}


def _response(status: HTTPStatus, body: object) -> bytes:
    payload = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(payload)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + payload

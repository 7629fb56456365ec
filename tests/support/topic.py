"""An Event Grid topic on loopback: takes CloudEvents as the service does, and shows what it took."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

BATCH = "application/cloudevents-batch+json"


class Topic:
    """`events` are the CloudEvents taken, as JSON; `keys` the access keys that came with the requests."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.events: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.attempts = 0
        self._answers: list[int] = []

    def answer(self, *statuses: int) -> None:
        """Answer the next requests with these, in place of taking the events."""
        self._answers += statuses

    async def take(self, request: web.Request) -> web.Response:
        self.attempts += 1
        if self._answers:
            return web.Response(status=self._answers.pop(0))
        assert request.content_type == BATCH
        self.keys.append(request.headers.get("aeg-sas-key"))
        self.events += await request.json()
        return web.Response()


@asynccontextmanager
async def topic_on_loopback() -> AsyncIterator[Topic]:
    topic = Topic()
    app = web.Application()
    app.router.add_post("/_sim/events/publish", topic.take)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        topic.endpoint = f"http://{host}:{port}/_sim/events/publish"
        yield topic
    finally:
        await runner.cleanup()

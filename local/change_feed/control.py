"""The feed's own port: whether it runs, and the knobs that tests turn.

GET /health
GET /knobs, PUT /knobs {"duplicates": 1, "loss": 0.2, "seed": 7}   (what is not given is off)
GET /counts
"""

from __future__ import annotations

import msgspec
from aiohttp import web

from local.change_feed.feed import Feed
from local.change_feed.mishaps import Knobs


def control(feed: Feed) -> web.Application:
    async def health(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def show_knobs(_: web.Request) -> web.Response:
        return _json(feed.knobs)

    async def turn_knobs(request: web.Request) -> web.Response:
        try:
            feed.turn(msgspec.json.decode(await request.read(), type=Knobs))
        except msgspec.DecodeError as exc:
            return web.Response(status=400, text=str(exc))
        return _json(feed.knobs)

    async def show_counts(_: web.Request) -> web.Response:
        return _json(feed.counts)

    application = web.Application()
    application.add_routes(
        [
            web.get("/health", health),
            web.get("/knobs", show_knobs),
            web.put("/knobs", turn_knobs),
            web.get("/counts", show_counts),
        ]
    )
    return application


def _json(content: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(content), content_type="application/json")

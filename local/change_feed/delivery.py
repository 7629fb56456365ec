"""Posts events to the webhook until it takes them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import aiohttp

log = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 2.0
_ANSWER_SECONDS = 30.0
# Everything else below 500 says that this event will never be wanted.
_TRY_AGAIN = frozenset({408, 429})


class Webhook:
    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def deliver(self, event: dict[str, Any]) -> bool:
        """Whether it was taken; False when it was refused for good. Waits for ever for one that is down."""
        pause = _FIRST_PAUSE_SECONDS
        while True:
            status = await self._post(event)
            if status is not None and 200 <= status < 300:
                return True
            if status is not None and status < 500 and status not in _TRY_AGAIN:
                log.warning("event.refused %s with status %d", event["subject"], status)
                return False
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def _post(self, event: dict[str, Any]) -> int | None:
        """The status; None without an answer."""
        try:
            async with self._session.post(
                self._url,
                json=[event],
                headers={"aeg-event-type": "Notification"},
                timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS),
            ) as response:
                return response.status
        except (aiohttp.ClientError, TimeoutError):
            return None

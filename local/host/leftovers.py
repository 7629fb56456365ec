"""What an app leaves open at the end. The platform has no hook for closing: it ends the process."""

from __future__ import annotations

import gc

import aiohttp


async def close_what_the_app_left_open() -> None:
    """Close every HTTP session of this process, which would complain loudly when it is collected."""
    for found in gc.get_objects():
        # By type: `isinstance` would also ask proxies, some of which fail.
        if issubclass(type(found), aiohttp.ClientSession) and not found.closed:
            await found.close()

"""What the demo asks of the provider simulator: trouble for some requests, and time to watch a batch work."""

from collections.abc import Iterable, Mapping

import aiohttp
import msgspec

from local.demo.trouble import DemoFailed

# A real batch takes minutes to hours; without this one would be done before the first look at it.
BATCH_SECONDS = 5


async def plant(
    session: aiohttp.ClientSession, simulator: str, rules: Iterable[Mapping[str, object]]
) -> None:
    """Add the rules, and let the first batch of each deployment take its time."""
    slow = [
        {
            "match": {"model": model},
            "then": {"batch": "completed", "after_seconds": BATCH_SECONDS},
            "times": n,
        }
        for model, n in (("gpt-4.1-mini-batch", 3), ("gpt-4.1-nano-batch", 1))
    ]
    body = msgspec.json.encode([*rules, *slow])
    async with session.post(
        f"{simulator}/_sim/rules", data=body, headers={"content-type": "application/json"}
    ) as response:
        if response.status >= 300:
            raise DemoFailed(f"the simulator refused the demo's rules: {await response.text()}")

"""How a host ends."""

import asyncio
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.local.host.host_process import HERE, HostProcess

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_host_cleanly_with_work_in_flight(
    tmp_path: Path, number: signal.Signals
) -> None:
    settings = {"SAMPLE_LOG": str(tmp_path / "log"), "SAMPLE_SCHEDULE": "*/1 * * * * *"}
    host = HostProcess(HERE / "sample_app", folder=tmp_path, settings=settings)
    host.wait_until_ready()
    async with aiohttp.ClientSession(host.url) as http:
        async with http.post("/orchestrations/wait_for_go/waiting", json=600) as response:
            assert response.status == 202
        stream = await http.get("/stream/1")
        await stream.content.read(10)

        code = await asyncio.to_thread(host.end, number)
        stream.close()

    assert code == 0
    without_expected = host.errors.replace("RuntimeError: timers may fail", "")
    assert "Task was destroyed" not in without_expected
    assert "CancelledError" not in without_expected

"""HTTP through the worker's own server: bodies of any size, both ways, and ends that break."""

import asyncio
import hashlib
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.local.host.host_process import HostProcess

pytestmark = pytest.mark.stack

MEGABYTE = b"0123456789abcdef" * 65536
MEGABYTES = 50


@pytest.fixture
async def http(sample: HostProcess) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of the sample app whose connections may be cut while they are sending."""
    async with aiohttp.ClientSession(sample.url) as session:
        yield session
    # They close a little later than the session.
    await asyncio.sleep(0.1)


async def upload(megabytes: int) -> AsyncIterator[bytes]:
    for _ in range(megabytes):
        yield MEGABYTE


async def seen(http: aiohttp.ClientSession, what: str) -> int:
    async with http.get("/seen") as response:
        return int((await response.json())[what])


async def comes_true(http: aiohttp.ClientSession, what: str, *, more_than: int) -> bool:
    for _ in range(1200):
        if await seen(http, what) > more_than:
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "unheard-of"])
async def test_a_coded_body_arrives_as_it_was_sent(http: aiohttp.ClientSession, coding: str) -> None:
    body = b"{, which is no coding at all"

    async with http.post("/digest", data=body, headers={"Content-Encoding": coding}) as response:
        answer = await response.json()

    assert answer["sha256"] == hashlib.sha256(body).hexdigest()


@pytest.mark.parametrize("with_length", [True, False], ids=["content-length", "chunked"])
async def test_a_large_upload_arrives_whole(http: aiohttp.ClientSession, with_length: bool) -> None:
    headers = {"Content-Type": "application/jsonl"}
    if with_length:
        headers["Content-Length"] = str(MEGABYTES * len(MEGABYTE))

    async with http.put("/digest", data=upload(MEGABYTES), headers=headers) as response:
        answer = await response.json()

    assert answer == {
        "size": MEGABYTES * len(MEGABYTE),
        "sha256": hashlib.sha256(MEGABYTE * MEGABYTES).hexdigest(),
        "type": "application/jsonl",
    }


async def test_a_large_answer_arrives_whole_and_memory_stays_flat(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    before = sample.resident_bytes()
    digest, most = hashlib.sha256(), 0

    async with http.get(f"/stream/{MEGABYTES}") as response:
        async for part in response.content.iter_any():
            digest.update(part)
            most = max(most, sample.resident_bytes())

    assert digest.digest() == hashlib.sha256(MEGABYTE * MEGABYTES).digest()
    assert most - before < 20_000_000


async def test_a_function_may_answer_without_reading_the_body(http: aiohttp.ClientSession) -> None:
    async with http.post("/reject", data=upload(20)) as response:
        assert (response.status, await response.text()) == (413, "too large for me")


@pytest.mark.parametrize("with_length", [True, False], ids=["content-length", "chunked"])
async def test_a_body_above_the_configured_limit_is_refused(
    http: aiohttp.ClientSession, with_length: bool
) -> None:
    headers = {"Content-Length": str(70 * len(MEGABYTE))} if with_length else {}

    async with http.put("/digest", data=upload(70), headers=headers) as response:
        assert response.status == 413


async def test_a_stream_that_fails_in_the_middle_is_cut_off_not_finished(http: aiohttp.ClientSession) -> None:
    async with http.get("/broken-stream") as response:
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_the_function_notices_a_client_that_stops_uploading(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    begun, before = await seen(http, "uploads_begun"), await seen(http, "disconnects")
    _, writer = await asyncio.open_connection("127.0.0.1", sample.port)
    writer.write(b"PUT /digest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nonly a part")
    assert await comes_true(http, "uploads_begun", more_than=begun)
    writer.close()
    await writer.wait_closed()

    assert await comes_true(http, "disconnects", more_than=before)


async def test_the_function_notices_a_client_that_stops_downloading(http: aiohttp.ClientSession) -> None:
    before = await seen(http, "streams_closed")
    response = await http.get("/stream/5000")
    await response.content.read(1000)
    response.close()

    assert await comes_true(http, "streams_closed", more_than=before)


async def test_many_requests_leave_nothing_behind_in_the_host(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    async def some() -> None:
        for _ in range(100):
            async with http.get("/echo") as response:
                assert response.status == 200

    await asyncio.gather(*[some() for _ in range(4)])
    before = sample.resident_bytes()

    await asyncio.gather(*[some() for _ in range(10)])

    # The worker library itself keeps about 2 kB for each request.
    assert sample.resident_bytes() - before < 1000 * 4096

"""Routing, methods and failures of HTTP functions, as clients see them."""

import asyncio
from pathlib import Path

import aiohttp
import pytest
from yarl import URL

from tests.local.host.host_process import HERE, HostProcess

pytestmark = pytest.mark.stack


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/files/latest", {"function": "file_latest"}),
        ("/FILES/Latest", {"function": "file_latest"}),
        ("/files/12", {"function": "file_by_number", "number": "12"}),
        ("/files/a%20b", {"function": "file_by_name", "name": "a b"}),
        ("/files/x/y/z", {"function": "file_rest", "rest": "x/y/z"}),
    ],
)
async def test_the_most_specific_route_answers(
    http: aiohttp.ClientSession, path: str, answer: dict[str, str]
) -> None:
    async with http.get(path) as response:
        assert await response.json() == answer


async def test_an_unknown_path_a_wrong_method_and_a_disabled_function_are_not_found(
    http: aiohttp.ClientSession,
) -> None:
    for method, path in [("GET", "/nowhere"), ("DELETE", "/echo"), ("GET", "/off")]:
        async with http.request(method, path) as response:
            assert response.status == 404


async def test_url_query_and_repeated_headers_pass_through(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    async with http.get(URL(f"{sample.url}/echo?a=1&b=x%2Fy", encoded=True)) as response:
        answer = await response.json()
        cookies = response.headers.getall("set-cookie")

    assert answer == {"url": f"{sample.url}/echo?a=1&b=x%2Fy", "query": {"a": "1", "b": "x/y"}}
    assert cookies == ["a=1", "b=2"]


async def test_head_gets_headers_without_a_body(http: aiohttp.ClientSession) -> None:
    async with http.head("/echo") as response:
        assert int(response.headers["content-length"]) > 0
        assert await response.read() == b""


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"GET /files/\xff HTTP/1.1\r\nHost: localhost", 400),
        (b"GET /files/x HTTP/1.1\r\nHost: localhost\r\nX-Odd: \xe9", 200),
        (b"OPTIONS * HTTP/1.1\r\nHost: localhost", 404),
    ],
)
async def test_odd_requests_are_never_the_hosts_fault(
    sample: HostProcess, request_head: bytes, status: int
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", sample.port)
    writer.write(request_head + b"\r\nConnection: close\r\n\r\n")

    answered = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()

    assert answered == status


async def test_a_path_that_the_web_framework_answers_itself_leaves_nothing_waiting(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    async with http.get("/docs") as response:
        assert response.status == 200
    async with http.get("/echo") as response:
        assert response.status == 200


async def test_a_client_cannot_choose_the_invocation(http: aiohttp.ClientSession) -> None:
    async with http.get("/echo", headers={"x-ms-invocation-id": "chosen"}) as response:
        assert response.status == 200


@pytest.mark.parametrize("path", ["/fail", "/exit"])
async def test_a_function_that_fails_or_exits_answers_500_and_the_host_lives_on(
    http: aiohttp.ClientSession, path: str
) -> None:
    async with http.get(path) as response:
        assert response.status == 500
    async with http.get("/echo") as response:
        assert response.status == 200


async def test_a_function_that_outlasts_the_function_timeout_is_ended(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    began = asyncio.get_running_loop().time()

    async with http.get("/slow") as response:
        assert response.status == 500

    assert 2.5 < asyncio.get_running_loop().time() - began < 10
    assert "FunctionTimeoutException" in sample.errors


async def test_functions_that_cannot_be_served_are_named_with_the_reason(
    sample: HostProcess, http: aiohttp.ClientSession
) -> None:
    async with http.get("/admin/host/status") as response:
        status = await response.json()

    assert status["state"] == "Running"
    assert status["disabled"] == ["switched_off"]
    assert sorted(status["skipped"]) == ["not_served", "unscheduled"]
    assert "function not_served is not served: the local host has no cosmosDBTrigger" in sample.errors
    assert "NO_SUCH_SETTING" in sample.errors


async def test_an_app_without_the_streaming_extension_works_too(tmp_path: Path) -> None:
    host = HostProcess(HERE / "plain_app", folder=tmp_path)
    try:
        host.wait_until_ready()
        async with aiohttp.ClientSession(host.url) as http:
            async with http.post("/api/shout/hello?tone=very", data="loud") as response:
                text = await response.text()
                assert (response.status, text) == (201, "HELLO VERY LOUD")
                assert response.headers["x-length"] == "15"
            async with http.get("/api/nothing") as response:
                assert response.status == 500
    finally:
        assert host.end() == 0


def test_an_app_that_cannot_be_loaded_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "function_app.py").write_text("import no_such_module\n")
    host = HostProcess(tmp_path, folder=tmp_path)

    with pytest.raises(AssertionError, match="cannot be loaded: ModuleNotFoundError"):
        host.wait_until_ready()
    assert host.end() == 1

"""Nothing that a client sends gives a server error."""

import json
import random
import socket
import string
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

import httpx2
import pytest

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.postern import Caller, chat, problem

pytestmark = pytest.mark.stack

ODD_TEXTS = [
    "..", ".", "%00", "\u0000", "a" * 5000, "'; drop table jobs; --", "job_" + "0" * 28, "job_" + "f" * 28,
    "job_" + "g" * 28, "JOB_01a22d473d8b5b68e4613e3e401c", "*", "?", "#", "%", "\\", "/", "//", "a/b",
    "\u202e\ud7ff", "💩" * 100, "{id}", "${jndi:x}", "null", "-1", "0", "1e309", "٣", "\r\nx: y", " ", "batch_1",
]  # fmt: skip
ROUTES = [
    ("GET", "/v1/jobs/{}"),
    ("GET", "/v1/jobs/{}/results"),
    ("GET", "/v1/jobs/{}/report"),
    ("POST", "/v1/jobs/{}/cancel"),
    ("POST", "/v1/jobs/{}/retry"),
    ("DELETE", "/v1/jobs/{}"),
    ("GET", "/v1/{}"),
]


def is_answered(response: httpx2.Response) -> None:
    """Neither a server error nor a refusal without a problem document."""
    assert response.status_code < 500, response.text
    # What never reaches the app (a target that is no path, a method nobody has) is the host's to refuse.
    if response.status_code >= 400 and "json" in response.headers.get("content-type", ""):
        problem(response)


@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_odd_ids(support: Caller, method: str, route: str) -> None:
    # Clients resolve dot segments before they send anything.
    for text in set(ODD_TEXTS) - {".", ".."}:
        response = support.http.request(method, route.format(quote(text, safe="")))
        is_answered(response)
        assert response.status_code >= 400 or route == "/v1/{}", f"{text!r}: {response.text[:200]}"


QUERIES = {
    "/v1/jobs": ("status", "alias", "project", "limit", "after", "tenant"),
    "/v1/usage": ("by", "window", "from", "to", "format", "tenant"),
    "/v1/findings": ("limit", "after"),
    "/v1/aliases": ("limit",),
}


@pytest.mark.parametrize(
    ("path", "name"), [(path, name) for path, names in QUERIES.items() for name in names]
)
def test_odd_query_values(operators: Caller, path: str, name: str) -> None:
    short = "&limit=1" if path == "/v1/jobs" and name != "limit" else ""
    for text in ODD_TEXTS:
        is_answered(operators.http.get(f"{path}?{name}={quote(text, safe='')}{short}"))
    is_answered(operators.http.get(f"{path}?{name}=%ff%fe&{name}=x&{name}{short}"))


@pytest.mark.parametrize(
    "name",
    ["authorization", "api-key", "x-api-key", "idempotency-key", "content-type", "content-encoding",
     "x-forwarded-proto", "host", "accept", "range", "x-ms-invocation-id", "traceparent", "if-match"],
)  # fmt: skip
def test_odd_headers(stack: Stack, name: str) -> None:
    odd = [
        b"",
        b"x" * 3000,
        b"\xff\xfe",
        "ünï".encode(),
        b"Bearer " + b"\x80" * 20,
        b"*/*;q=x",
        b"0" * 40,
        b'"',
    ]
    for value in odd:
        headers = [(b"api-key", KEYS["support"].encode()), (name.encode(), value)]
        with httpx2.Client(base_url=stack.http, timeout=30) as client:
            for response in (
                client.get("/v1/jobs?limit=1", headers=headers),
                client.post("/v1/jobs", headers=headers, content=b'{"alias": "nowhere", "requests": []}'),
            ):
                assert response.status_code < 500, (name, value, response.text)


DEEP = 100_000
BODIES = {
    "deep arrays": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "deep request": b'{"alias":"summarize","requests":[{"body":' + b"[" * DEEP + b"]" * DEEP + b"}]}",
    "deep schema": b'{"alias":"summarize","requests":[{"body":{}}],"output_schema":'
    + b'{"not":' * 5000 + b"{}" + b"}" * 5001,
    "huge number": b'{"alias":"summarize","deadline_hours":' + b"9" * 10_000 + b',"requests":[{"body":{}}]}',
    "huge exponent": b'{"alias":"summarize","deadline_hours":1e999,"requests":[{"body":{}}]}',
    "not a number": b'{"alias":"summarize","deadline_hours":NaN,"requests":[{"body":{}}]}',
    "many hours": b'{"alias":"summarize","deadline_hours":1e17,"requests":[{"body":{"messages":[]}}]}',
    "half a surrogate": b'{"alias":"\\ud800","requests":[{"body":{"messages":[]}}]}',
    "surrogate in a tag": b'{"alias":"summarize","tags":{"a":"\\udc00"},"requests":[{"body":{"messages":[]}}]}',
    "zero in a tag": b'{"alias":"summarize","tags":{"\\u0000":"\\u0000"},"requests":[{"body":{"messages":[]}}]}',
    "twice the same name": b'{"alias":"summarize","alias":7,"requests":[],"requests":[{"body":{}}]}',
    "utf-16": '{"alias": "summarize"}'.encode("utf-16"),
    "nothing but spaces": b" " * 10_000,
    "many commas": b"[" + b"," * 100_000 + b"]",
    "schema with a bomb": json.dumps(
        {
            "alias": "summarize",
            "requests": [chat("x")],
            "output_schema": {"type": "string", "pattern": "(a+)+$" * 50},
        }
    ).encode(),
    "schema that refers outside": json.dumps(
        {
            "alias": "summarize",
            "requests": [chat("x")],
            "output_schema": {"$ref": "http://127.0.0.1:9/schema.json"},
        }
    ).encode(),
    "schema that refers to itself": b'{"alias":"summarize","requests":[{"body":{"messages":[]}}],'
    b'"output_schema":{"$ref":"#"}}',
}  # fmt: skip


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/uploads", "/v1/jobs/job_x/retry", "/v1/jobs/estimate"])
def test_odd_bodies(support: Caller, path: str, body: bytes) -> None:
    response = support.http.post(path, content=body)

    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        problem(response)


def test_odd_values_in_an_upload_end_the_job_and_nothing_else(support: Caller) -> None:
    content = b"\n".join(
        [
            b"[" * DEEP + b"]" * DEEP,
            b'{"body": {"messages": ' + b"[" * DEEP + b"]" * DEEP + b"}}",
            b'{"custom_id": "\\ud800", "body": {"messages": [{"role": "user", "content": "x"}]}}',
            b'{"body": {"messages": [{"role": "user", "content": "\\udfff"}], "seed": ' + b"9" * 5000 + b"}}",
            b"\x00" * 1000,
            b"NaN",
            b'{"body": {"messages": [{"role": "user", "content": "x"}], "max_tokens": 1e400}}',
        ]
    )

    job = support.finished(support.submitted(upload_id=support.upload(content)))

    assert (job["status"], job["reason"]) == ("failed", "invalid_input")


def mutations(count: int) -> Iterator[bytes]:
    """A sound body with bytes changed, cut, doubled; always the same ones."""
    dice = random.Random(2026)
    sound = json.dumps(
        {"alias": "summarize", "requests": [chat("One.", "a")], "tags": {"project": "p"}, "dedupe": True}
    ).encode()
    letters = string.printable.encode() + bytes([0, 0x80, 0xFF])
    for _ in range(count):
        body = bytearray(sound)
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(body))
            match dice.randrange(3):
                case 0:
                    body[place] = dice.choice(letters)
                case 1:
                    del body[place : place + dice.randint(1, 10)]
                case _:
                    body[place:place] = body[place : place + dice.randint(1, 10)]
        yield bytes(body)


def test_damaged_bodies(support: Caller) -> None:
    for body in mutations(100):
        response = support.http.post("/v1/jobs", content=body)
        assert response.status_code < 500, (body, response.text)
        if response.status_code >= 400:
            problem(response)


@pytest.mark.parametrize(
    "request_line",
    [
        b"GET /v1/jobs/../../etc/passwd HTTP/1.1",
        b"GET //v1//jobs HTTP/1.1",
        b"GET /v1/jobs/%zz HTTP/1.1",
        b"GET /v1/jobs?limit HTTP/1.1",
        b"GET http://elsewhere.example/v1/jobs HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"BREW /v1/jobs HTTP/1.1",
        b"PUT /v1/jobs HTTP/1.1",
        b"PATCH /v1/jobs/x HTTP/1.1",
        b"HEAD /v1/jobs HTTP/1.1",
        b"GET /" + b"a" * 6000 + b" HTTP/1.1",
    ],
)
def test_odd_request_lines(stack: Stack, request_line: bytes) -> None:
    address = urlsplit(stack.http)
    with socket.create_connection((address.hostname or "", address.port or 0), timeout=20) as connection:
        headers = f"host: {address.netloc}\r\napi-key: {KEYS['support']}\r\nconnection: close\r\n\r\n"
        connection.sendall(request_line + b"\r\n" + headers.encode())

        status = connection.makefile("rb").readline().split()[1]

    assert 200 <= int(status) < 500

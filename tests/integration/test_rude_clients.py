"""What no library would send: every one of it is answered or hung up on, and the app goes on."""

import gzip
import re
import socket
from urllib.parse import urlsplit

import pytest

from local.stack import Stack
from tests.integration.catalogs import KEYS
from tests.integration.described import operations
from tests.integration.postern import Caller, problem
from tests.integration.tenants import Belongings

pytestmark = pytest.mark.stack

# A hang, on however slow a machine.
HANGS_SECONDS = 50
# What breaks off is not answered before it is given up; either end of it is right.
SOON = 0.5
PATHS = sorted(
    {operation.target(**{p["name"]: "x" for p in operation.parameters("path")}) for operation in operations()}
)
FILES, JOBS = b"POST /openai/v1/files HTTP/1.1", b"POST /v1/jobs HTTP/1.1"
FORM = b"content-type: multipart/form-data; boundary=edge"
PART = b'--edge\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx'
CHUNKED = b"transfer-encoding: chunked"

TARGETS = [
    b"/v1/jobs/%", b"/v1/jobs/%f", b"/v1/jobs/%zz", b"/v1/jobs/%ff%fe", b"/v1/jobs/%c0%af", b"/v1/jobs/%00",
    b"/v1/jobs/a%00b", b"/v1/jobs/\xff\xfe", b"/v1/jobs/%ed%a0%80", b"/v1/jobs/%2e%2e%2f%2e%2e", b"/v1/jobs/..",
    b"/v1/../healthz/../v1/jobs", b"/openai/v1/files/%00/content", b"/openai/v1/files/%ff",
    b"/openai/v1/models/%0d%0a",
    b"/v1/jobs?after=%zz&limit=%", b"/v1/jobs?%ff=%ff", b"/v1/jobs?" + b"&" * 5000, b"/v1/jobs?a=" + b"a" * 1_000_000,
    b"/" + b"a" * 1_000_000, b"/v1/jobs#fragment", b"http://elsewhere.example/v1/jobs", b"http://[::1/v1/jobs", b"http://",
    b"elsewhere.example:443", b"*", b"", b"v1/jobs", b"//v1/jobs", b"/v1/jobs ?x=1",
    b"/v1/documents/doc_%F0%9F%92%A9",
    b"/v1/usage?from=%00", b"/v1/usage?by=%00%01,%ff", b"/openai/v1/batches?after=%00", b"/openai/files?order=%ff",
]  # fmt: skip

HEADERS = {
    "a huge header": b"x: " + b"a" * 200_000,
    "a huge key": b"api-key: " + b"k" * 200_000,
    "thousands of headers": b"\r\n".join(b"x-%d: y" % n for n in range(3000)),
    "no colon": b"nonsense",
    "no name": b": x",
    "a space before the colon": b"x : y",
    "a folded line": b"x: y\r\n z",
    "a NUL": b"x: a\0b",
    "a bare line feed": b"x: a\ny: b",
    "a bare carriage return": b"x: a\rb",
    "another host": b"host: elsewhere.example",
    "a broken host": b"host: [::1",
    "an expectation": b"expect: 200-ok",
    "an upgrade": b"upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\nsec-websocket-version: 13",
    "a cookie": b"cookie: \xff=\xfe;;;=",
}

BODIES = {
    "breaks off": (JOBS, b"content-length: 100", b'{"alias"'),
    "a chunk breaks off": (JOBS, CHUNKED, b'5\r\n{"a'),
    "chunks without an end": (JOBS, CHUNKED, b'1\r\n{\r\n'),
    "a chunk of no size": (JOBS, CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk of negative size": (JOBS, CHUNKED, b"-1\r\n{}\r\n0\r\n\r\n"),
    "a chunk of endless size": (JOBS, CHUNKED, b"f" * 40 + b"\r\n{}"),
    "a chunk longer than told": (JOBS, CHUNKED, b"1\r\n{}\r\n0\r\n\r\n"),
    "a trailer": (JOBS, CHUNKED, b"2\r\n{}\r\n0\r\nx: y\r\n\r\n"),
    "an unknown coding": (JOBS, b"transfer-encoding: gzip", b"{}"),
    "chunked twice": (JOBS, b"transfer-encoding: chunked, chunked", b"0\r\n\r\n"),
    "both lengths": (JOBS, b"content-length: 2\r\n" + CHUNKED, b"0\r\n\r\n"),
    "two lengths": (JOBS, b"content-length: 2\r\ncontent-length: 3", b"{}"),
    "a negative length": (JOBS, b"content-length: -1", b"{}"),
    "a signed length": (JOBS, b"content-length: +2", b"{}"),
    "a length of letters": (JOBS, b"content-length: two", b"{}"),
    "a length of many digits": (JOBS, b"content-length: " + b"9" * 500, b"{}"),
    "a length beyond all limits": (JOBS, b"content-length: 999999999999", b"{}"),
    "no length": (JOBS, b"x: y", b"{}"),
    "more than told": (JOBS, b"content-length: 2", b"{}{}{}"),
    "a retry breaks off": (b"POST /v1/jobs/job_x/retry HTTP/1.1", b"content-length: 9", b"{"),
    "a batch breaks off": (b"POST /openai/v1/batches HTTP/1.1", CHUNKED, b"9\r\n{"),
    "an upload breaks off": (b"POST /v1/uploads HTTP/1.1", b"content-length: 9", b"{"),
    "a body on GET breaks off": (b"GET /v1/jobs HTTP/1.1", b"content-length: 9", b"{"),
    "a body on DELETE breaks off": (b"DELETE /v1/jobs/x HTTP/1.1", CHUNKED, b"9\r\n{"),
    "a body that leads nowhere": (b"PUT /v1/nowhere HTTP/1.1", CHUNKED, b"9\r\n{"),
    **{
        f"{coding.decode()}, {body[:6]!r}":
            (JOBS, b"content-encoding: %s\r\ncontent-length: %d" % (coding, len(body)), body)
        for coding in (b"gzip", b"br", b"deflate", b"zstd", b"x", b"gzip, gzip")
        for body in (b"", b"{", b'{"alias": "summarize"}', b"\x1f\x8b\x08", gzip.compress(b" " * 10_000_000))
    },
    "a form breaks off": (FILES, FORM + b"\r\ncontent-length: 5000", PART),
    "a form without an end": (FILES, FORM + b"\r\ncontent-length: %d" % len(PART), PART),
    "a chunked form breaks off": (FILES, FORM + b"\r\n" + CHUNKED, b"%x\r\n%s" % (len(PART) + 9, PART)),
    "a chunked form without an end": (FILES, FORM + b"\r\n" + CHUNKED, b"%x\r\n%s\r\n" % (len(PART), PART)),
    "a form of no length": (FILES, FORM, PART),
    "a form without a boundary": (FILES, b"content-type: multipart/form-data\r\ncontent-length: 2", b"--"),
    "a long boundary": (FILES, FORM + b"e" * 6000 + b"\r\ncontent-length: 2", b"--"),
    "a boundary of odd bytes": (FILES, FORM + b"\xff\xfe\r\ncontent-length: 2", b"--"),
    "a form of dashes": (FILES, FORM + b"\r\ncontent-length: 9000", b"-" * 9000),
}  # fmt: skip


def exchange(stack: Stack, content: bytes, *, patience: float = HANGS_SECONDS) -> bytes:
    """What comes back. Without an answer after `patience` seconds nothing more is said. Fails on a hang."""
    address = urlsplit(stack.http)
    pieces = []
    with socket.create_connection((address.hostname or "", address.port or 0), patience) as connection:
        try:
            connection.sendall(content)
            while piece := _received(connection):
                pieces.append(piece)
        except (ConnectionResetError, BrokenPipeError):
            pass  # hung up on before it had said everything
    return b"".join(pieces)


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except TimeoutError:
        connection.settimeout(HANGS_SECONDS)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(65_536)


def request(stack: Stack, line: bytes, *headers: bytes) -> bytes:
    host = f"host: {urlsplit(stack.http).netloc}\r\napi-key: {KEYS['support']}\r\nconnection: close".encode()
    return b"\r\n".join([line, host, *headers, b"", b""])


def is_no_fault(stack: Stack, answer: bytes) -> None:
    """A refusal, an answer or nothing; and the app is alive."""
    if answer:
        assert 100 <= int(answer.split()[1]) < 500, answer[:500]
    alive = exchange(stack, request(stack, b"GET /healthz HTTP/1.1"))
    assert alive.split()[1] == b"200"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: repr(target[:40]))
def test_targets(stack: Stack, hidden: Belongings, target: bytes) -> None:
    answer = exchange(stack, request(stack, b"GET " + target + b" HTTP/1.1"))

    is_no_fault(stack, answer)
    assert hidden.word.encode() not in answer


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_headers(stack: Stack, header: bytes) -> None:
    for line in (b"GET /v1/jobs?limit=1 HTTP/1.1", b"GET /openai/v1/models HTTP/1.1"):
        is_no_fault(stack, exchange(stack, request(stack, line, header)))


@pytest.mark.parametrize(("line", "header", "body"), BODIES.values(), ids=BODIES.keys())
def test_bodies(stack: Stack, line: bytes, header: bytes, body: bytes) -> None:
    is_no_fault(stack, exchange(stack, request(stack, line, header) + body, patience=SOON))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /v1/jobs\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.0\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n", b"GET /v1/jobs HTTP/1.1\r\nhost",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 5000,
        b"get /healthz HTTP/1.1\r\nhost: x\r\n\r\n", b"G\xffT /healthz HTTP/1.1\r\nhost: x\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n", b"M" * 20_000,
    ],
    ids=lambda content: repr(content[:30]),
)  # fmt: skip
def test_what_is_hardly_http(stack: Stack, content: bytes) -> None:
    is_no_fault(stack, exchange(stack, content, patience=SOON))


@pytest.mark.parametrize(
    "path", ["docs", "redoc", "openapi.json", "docs/oauth2-redirect", "v1/jobs/%0A", "a%0d%0ab"]
)
def test_nothing_is_shown_to_strangers(stranger: Caller, path: str) -> None:
    response = stranger.get(f"/{path}")

    assert response.status_code == 401
    problem(response)


def test_requests_one_behind_the_other_are_answered_in_turn(stack: Stack) -> None:
    host = b"\r\nhost: x\r\n"
    lines = (b"GET /healthz HTTP/1.1", b"GET /v1/jobs HTTP/1.1", b"HEAD /healthz HTTP/1.1")

    answer = exchange(stack, b"\r\n".join(line + host for line in lines) + b"connection: close\r\n\r\n")

    assert re.findall(rb"HTTP/1\.1 (\d+)", answer) == [b"200", b"401", b"200"]


@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "BREW"])
def test_other_methods(support: Caller, method: str) -> None:
    for path in PATHS:
        response = support.http.request(method, path)

        assert response.status_code < 500, path
        if method == "HEAD":
            assert response.content == b""


@pytest.mark.parametrize(
    "asked",
    ["bytes=9-1", "bytes=-0", "bytes=a-b", "bytes=-", "bytes=0-0,2-3", f"bytes={'9' * 400}-", "bytes=0-" + "9" * 400,
     "bytes=" + "0-0," * 1000, "bytes=99999999-", "lines=0-1", "bytes", "", "bytes=٣-٤", "bytes=0-\0"],
)  # fmt: skip
def test_ranges(stack: Stack, ours: Belongings, asked: str) -> None:
    line = f"GET /openai/v1/files/{ours.ids['file']}/content HTTP/1.1".encode()

    answer = exchange(stack, request(stack, line, f"range: {asked}".encode()))

    assert int(answer.split()[1]) in (200, 206, 400, 416), answer[:300]
    is_no_fault(stack, answer)

"""Which lines of Azurite's access log tell of a blob that was created. All were copied from a real one."""

import pytest

from local.change_feed.access_log import Change, read_change


def line(request: str, status: int = 201) -> bytes:
    return f'127.0.0.1 - - [30/Nov/2026:16:39:17 +0000] "{request} HTTP/1.1" {status} -'.encode()


@pytest.mark.parametrize(
    ("request_line", "status", "api"),
    [
        ("PUT /devstoreaccount1/documents/plain.txt", 201, "PutBlob"),
        ("PUT /devstoreaccount1/documents/big.bin?comp=blocklist", 201, "PutBlockList"),
        ("PUT /devstoreaccount1/documents/copy.txt", 202, "CopyBlob"),
        ("PUT /devstoreaccount1/documents/a.txt?se=2026-12-01&sig=x%2Fy%3D", 201, "PutBlob"),
    ],
)
def test_a_blob_was_created(request_line: str, status: int, api: str) -> None:
    change = read_change(line(request_line, status))

    assert change is not None
    assert change.api == api


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("PUT /devstoreaccount1/documents?restype=container", 201),
        ("PUT /devstoreaccount1/documents/plain.txt", 409),
        ("PUT /devstoreaccount1/documents/big.bin?comp=block&blockid=TVE9PQ%3D%3D", 201),
        ("PUT /devstoreaccount1/documents/plain.txt?comp=metadata", 200),
        ("PUT /devstoreaccount1/documents/plain.txt?comp=snapshot", 201),
        ("PUT /devstoreaccount1/documents/plain.txt?comp=lease", 201),
        ("PUT /devstoreaccount1/documents/append.txt?comp=appendblock", 201),
        ("DELETE /devstoreaccount1/documents/plain.txt", 202),
        ("GET /devstoreaccount1/documents/plain.txt", 200),
        ("POST /devstoreaccount1/documents", 201),
        ("PUT /devstoreaccount1/documents/", 201),
    ],
)
def test_no_blob_was_created(request_line: str, status: int) -> None:
    assert read_change(line(request_line, status)) is None


def test_what_azurite_says_of_itself_is_no_request() -> None:
    assert read_change(b"Azurite Blob service is successfully listening at http://127.0.0.1:10000") is None


def test_a_name_is_decoded_once() -> None:
    change = read_change(line("PUT /devstoreaccount1/documents/a%20b/%C3%BC%2B%2520%23%5B1%5D%3F//x+y.txt"))

    assert change == Change(
        api="PutBlob", raw_path="devstoreaccount1/documents/a%20b/%C3%BC%2B%2520%23%5B1%5D%3F//x+y.txt"
    )
    assert (change.container, change.name) == ("documents", "a b/ü+%20#[1]?//x+y.txt")

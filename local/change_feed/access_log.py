"""A line of Azurite's access log, and the change to a blob that it tells of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote

_REQUEST = re.compile(rb'"PUT /(?P<target>\S+) HTTP/[\d.]+" (?P<status>\d{3}) ')
_API = {(b"201", ""): "PutBlob", (b"201", "blocklist"): "PutBlockList", (b"202", ""): "CopyBlob"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`raw_path` is the blob's path as it was requested, still encoded: account, container, name."""

    api: str
    raw_path: str

    @property
    def container(self) -> str:
        return unquote(self.raw_path.split("/", 2)[1])

    @property
    def name(self) -> str:
        """Decoded once: a `%20` that the caller wrote as `%2520` stays a `%20`."""
        return unquote(self.raw_path.split("/", 2)[2])


def read_change(line: bytes) -> Change | None:
    """None for a request that failed, or that created or replaced no blob."""
    found = _REQUEST.search(line)
    if found is None:
        return None
    path, _, query = found["target"].decode("latin-1").partition("?")
    parameters = parse_qs(query)
    api = _API.get((found["status"], parameters.get("comp", [""])[0]))
    segments = path.split("/", 2)
    if api is None or "restype" in parameters or len(segments) < 3 or not segments[2]:
        return None
    return Change(api=api, raw_path=path)

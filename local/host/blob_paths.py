"""Blob paths: the pattern that a blob trigger declares, and the blob that a URL names."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from local.host.functions import CannotServe

_TOKEN = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobPath:
    """`name` as the client gave it: decoded, with its slashes."""

    container: str
    name: str

    def __str__(self) -> str:
        return f"{self.container}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathPattern:
    """`documents/{tenant}/{name}.{extension}`; a token takes as much as it can, slashes in the name included."""

    text: str
    expression: re.Pattern[str]

    def match(self, path: BlobPath) -> Mapping[str, str] | None:
        """The tokens' values; None when the path does not fit."""
        found = self.expression.fullmatch(str(path))
        return None if found is None else found.groupdict()


def compile_path(text: str) -> PathPattern:
    """Raises `CannotServe` for a pattern this host does not understand."""
    container, slash, name = text.partition("/")
    # Without a name the trigger means every blob of the container.
    expression = (
        _expression(container, token="[^/]+") + "/" + (_expression(name, token=".+") if slash else ".+")
    )
    try:
        return PathPattern(text=text, expression=re.compile(expression, re.DOTALL))
    except re.error as exc:
        raise CannotServe(f"the path {text!r} has a token twice") from exc


def _expression(template: str, *, token: str) -> str:
    parts = _TOKEN.split(template)
    literals, names = parts[::2], parts[1::2]
    if any("{" in literal or "}" in literal for literal in literals):
        raise CannotServe(f"the path {template!r} is not a pattern the local host understands")
    named = [f"(?P<{name}>{token})" for name in names]
    return re.escape(literals[0]) + "".join(
        group + re.escape(literal) for group, literal in zip(named, literals[1:], strict=True)
    )


def path_of_url(url: str) -> BlobPath:
    """Decoded once. An address by number has the account before the container. Raises `ValueError`."""
    parts = urlsplit(url)
    segments = parts.path.removeprefix("/").split("/")
    if _is_numeric(parts.hostname or ""):
        segments = segments[1:]
    container, name = segments[0] if segments else "", "/".join(segments[1:])
    if not container or not name:
        raise ValueError(f"{url!r} does not name a blob")
    return BlobPath(container=unquote(container), name=unquote(name))


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True

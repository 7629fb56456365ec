"""Which HTTP function answers a request: templates, constraints and precedence as on the platform."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from local.host.functions import CannotServe, Function

_PARAMETER = re.compile(r"\{(?P<star>\*{0,2})(?P<name>\w+)(?P<constraints>(?::[^{}?]+)*)(?P<optional>\?)?\}")
_CONSTRAINTS = {
    "int": r"-?\d{1,10}",
    "long": r"-?\d{1,19}",
    "guid": r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}",
    "alpha": r"[A-Za-z]+",
    "bool": r"(?i:true|false)",
    "decimal": r"-?\d+(?:\.\d+)?",
}
# A smaller rank is tried first.
_LITERAL, _MIXED, _CONSTRAINED, _PARAMETER_ONLY, _REST = range(5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One template; `rank` orders templates from the most to the least specific."""

    template: str
    pattern: re.Pattern[str]
    rank: tuple[int, ...]
    methods: frozenset[str] | None
    function: Function

    def match(self, method: str, raw_path: str) -> Mapping[str, str] | None:
        """Decoded route parameters, or None. `raw_path` is the path as it came, still percent-encoded."""
        if self.methods is not None and method not in self.methods:
            return None
        found = self.pattern.fullmatch("/" + _decoded(raw_path).lstrip("/"))
        return None if found is None else {k: v for k, v in found.groupdict().items() if v is not None}


class RouteTable:
    """Finds the most specific route. A known path with another method matches nothing: the platform

    answers that with 404, and so do we.
    """

    def __init__(self) -> None:
        self._routes: list[Route] = []

    def add(self, route: Route) -> None:
        self._routes.append(route)
        self._routes.sort(key=lambda each: each.rank)

    def find(self, method: str, raw_path: str) -> tuple[Function, Mapping[str, str]] | None:
        for route in self._routes:
            parameters = route.match(method, raw_path)
            if parameters is not None:
                return route.function, parameters
        return None


def compile_route(function: Function, *, prefix: str) -> Route:
    """The route of an HTTP function. Raises `CannotServe` for a template the host does not understand."""
    trigger = function.trigger
    route = trigger.get("route")
    template = "/".join(part for part in (prefix, (route or function.name).strip("/")) if part)
    compiled = [_segment(segment) for segment in template.split("/")]
    methods = trigger.get("methods")
    return Route(
        template=template,
        pattern=re.compile("".join(pattern for pattern, _ in compiled) + "/?", re.IGNORECASE | re.DOTALL),
        rank=tuple(rank for _, rank in compiled),
        methods=frozenset(_method(each) for each in methods) if methods else None,
        function=function,
    )


def _method(method: object) -> str:
    return str(getattr(method, "value", method)).upper()


def _segment(segment: str) -> tuple[str, int]:
    """Pattern and rank of a segment; the pattern takes the slash before it, or nothing where it may lack."""
    whole = _PARAMETER.fullmatch(segment)
    if whole is None:
        return _mixed(segment)
    if whole["star"]:
        return f"(?:/(?P<{whole['name']}>.*))?", _REST
    value = _value_pattern(segment, whole)
    rank = _CONSTRAINED if whole["constraints"] else _PARAMETER_ONLY
    named = f"/(?P<{whole['name']}>{value})"
    return (f"(?:{named})?" if whole["optional"] else named), rank


def _mixed(segment: str) -> tuple[str, int]:
    """A literal, or text around parameters such as `{name}.json`."""
    pattern, end = "/", 0
    for found in _PARAMETER.finditer(segment):
        pattern += _literal(segment[end : found.start()])
        pattern += f"(?P<{found['name']}>{_value_pattern(segment, found)})"
        end = found.end()
    return pattern + _literal(segment[end:]), _MIXED if end else _LITERAL


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise CannotServe(f"the route segment {text!r} is not a template the local host understands")
    return re.escape(text)


def _value_pattern(segment: str, parameter: re.Match[str]) -> str:
    names = [name for name in parameter["constraints"].split(":") if name]
    if unknown := [name for name in names if name not in _CONSTRAINTS]:
        raise CannotServe(f"the local host does not know the constraint {unknown[0]!r} in {segment!r}")
    return "".join(f"(?={_CONSTRAINTS[name]}(?:/|$))" for name in names[1:]) + (
        _CONSTRAINTS[names[0]] if names else "[^/]+?"
    )


def _decoded(raw_path: str) -> str:
    """Percent-decoded, except `%2F`, which stays as it is so that it separates nothing."""
    return "%2F".join(unquote(part) for part in re.split("%2F", raw_path, flags=re.IGNORECASE))

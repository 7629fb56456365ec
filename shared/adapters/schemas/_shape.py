"""How large a schema is, before anything compiles it: size, depth, references, and what it unfolds to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from shared.domain.errors import Rejected

MAX_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 64
# Subschemas visited when every reference is followed. A few lines that refer to each other twice can ask
# for more checks than there are atoms; half a megabyte of honest schema stays below this.
MAX_UNFOLDED: Final = 100_000

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS: Final = ("$anchor", "$dynamicAnchor")
_STORES: Final = frozenset({"$defs", "definitions"})

type Node = dict[str, Any] | list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A schema within bounds. `names` are all property names it mentions."""

    schema: dict[str, Any]
    names: frozenset[str]


def measure(schema: object) -> Shape:
    """Raise `Rejected` (code `invalid_schema`) for what is too large, too deep, or refers outside itself."""
    if not isinstance(schema, dict):
        raise _rejected("it must be a JSON object")
    _check_size(schema)
    nodes = list(_nodes(schema, depth=1))
    targets = _targets(nodes)
    _check_references(nodes, targets)
    if _Unfolding(schema, targets).size(schema) > MAX_UNFOLDED:
        raise _rejected(f"its references unfold to more than {MAX_UNFOLDED:,} subschemas")
    return Shape(schema=schema, names=frozenset(_names(nodes)))


def _check_size(schema: dict[str, Any]) -> None:
    try:
        size = len(msgspec.json.encode(schema))
    except (RecursionError, TypeError, ValueError, OverflowError) as fault:
        raise _rejected("it is no JSON, or nested too deeply") from fault
    if size > MAX_BYTES:
        raise _rejected(f"it has {size:,} bytes and may have {MAX_BYTES:,}")


def _nodes(node: Node, *, depth: int) -> Iterator[Node]:
    """Every object and array in it."""
    if depth > MAX_DEPTH:
        raise _rejected(f"it is nested deeper than {MAX_DEPTH} levels")
    yield node
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from _nodes(child, depth=depth + 1)


def _objects(nodes: list[Node]) -> Iterator[dict[str, Any]]:
    return (node for node in nodes if isinstance(node, dict))


def _targets(nodes: list[Node]) -> dict[str, dict[str, Any]]:
    """What may be referred to by name: anchors and embedded ids."""
    found: dict[str, dict[str, Any]] = {}
    for node in _objects(nodes):
        for anchor in _ANCHORS:
            if isinstance(name := node.get(anchor), str):
                found[f"#{name}"] = node
        if isinstance(name := node.get("$id"), str):
            found[name.removesuffix("#")] = node
    return found


def _check_references(nodes: list[Node], targets: Mapping[str, object]) -> None:
    for node in _objects(nodes):
        for reference in _references(node):
            document = reference.partition("#")[0]
            if document and document not in targets:
                raise _rejected(f"it refers to {reference[:100]!r}, which is not part of it; inline it")


def _references(node: dict[str, Any]) -> Iterator[str]:
    return (node[name] for name in _REFERENCES if isinstance(node.get(name), str))


def _names(nodes: list[Node]) -> Iterator[str]:
    for node in _objects(nodes):
        if isinstance(properties := node.get("properties"), dict):
            yield from properties
        if isinstance(required := node.get("required"), list):
            yield from (name for name in required if isinstance(name, str))


@dataclass(slots=True)
class _Unfolding:
    """Counts subschemas with references followed. One that refers back to itself is counted once."""

    root: dict[str, Any]
    targets: Mapping[str, dict[str, Any]]
    _sizes: dict[int, int] = field(default_factory=dict)

    def size(self, node: Node) -> int:
        known = self._sizes.get(id(node))
        if known is not None:
            return known
        self._sizes[id(node)] = 0
        total = 1 + sum(self.size(child) for child in self._children(node))
        self._sizes[id(node)] = total
        return total

    def _children(self, node: Node) -> Iterator[Node]:
        if isinstance(node, list):
            yield from (child for child in node if isinstance(child, dict | list))
            return
        for name, child in node.items():
            if isinstance(child, dict | list) and name not in _STORES:
                yield child
        for reference in _references(node):
            if (target := self._target(reference)) is not None:
                yield target

    def _target(self, reference: str) -> Node | None:
        """Where it points; None for a dangling one, which the compiler refuses."""
        document, _, fragment = reference.partition("#")
        start = self.targets.get(document, self.root) if document else self.root
        if not fragment.startswith("/"):
            return self.targets.get(f"#{fragment}") if fragment else start
        found: Any = start
        for step in fragment[1:].split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            found = _step(found, name)
        return found if isinstance(found, dict | list) else None


def _step(node: object, name: str) -> object:
    if isinstance(node, dict):
        return node.get(name)
    if isinstance(node, list) and name.isdecimal() and int(name) < len(node):
        return node[int(name)]
    return None


def _rejected(why: str) -> Rejected:
    return Rejected(f"the output schema cannot be used: {why}", code="invalid_schema")

"""Text to tree. Everything else in this package works on these trees."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import tree_sitter_bicep
from tree_sitter import Language, Node, Parser

from checks.bicep.problems import Problem

_PARSER: Final = Parser(Language(tree_sitter_bicep.language()))
_ESCAPES: Final = {"\\'": "'", "\\$": "$", "\\\\": "\\", "\\n": "\n"}


@dataclass(slots=True)
class Findings:
    """Collects the problems of one file."""

    file: Path
    problems: list[Problem] = field(default_factory=list)

    def add(self, node: Node, message: str) -> None:
        self.problems.append(Problem(self.file, node.start_point[0] + 1, message))


@dataclass(frozen=True)
class Source:
    path: Path
    content: str

    @classmethod
    def read(cls, path: Path) -> "Source":
        return cls(path, path.read_text(encoding="utf-8"))

    @cached_property
    def root(self) -> Node:
        return _PARSER.parse(self.content.encode()).root_node

    def check(self, findings: Findings) -> None:
        """Report every place that is no Bicep, or none of the subset that the parser knows."""
        wrong = [node for node in walk(self.root) if node.type == "ERROR" or node.is_missing]
        for node in wrong:
            findings.add(node, f"syntax error near {text(node)[:40]!r}")
        if self.root.has_error and not wrong:
            findings.add(self.root, "syntax error")


def walk(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from walk(child)


def text(node: Node) -> str:
    return (node.text or b"").decode()


def named(node: Node) -> list[Node]:
    """The children that mean something: comments do not."""
    return [child for child in node.named_children if child.type != "comment"]


def string_of(node: Node) -> str | None:
    """The value of a string without interpolation; None for anything else."""
    if node.type != "string" or any(child.type == "interpolation" for child in node.named_children):
        return None
    return "".join(_piece(child) for child in node.named_children)


def key_of(prop: Node) -> str | None:
    """The name that an object's property has; None if it is computed."""
    if prop.type != "object_property" or not prop.named_children:
        return None
    key = prop.named_children[0]
    return text(key) if key.type == "identifier" else string_of(key)


def properties(node: Node) -> dict[str, Node]:
    """What an object says under each literal name."""
    found = ((key_of(prop), named(prop)) for prop in node.named_children)
    return {key: parts[-1] for key, parts in found if key is not None and len(parts) > 1}


def inside(node: Node) -> Node:
    """Without the brackets around it."""
    while node.type == "parenthesized_expression" and len(named(node)) == 1:
        node = named(node)[0]
    return node


def literal(node: Node) -> object:
    """The Python value of a literal, deeply; `...` where something is computed."""
    node = inside(node)
    match node.type:
        case "string":
            value = string_of(node)
            return ... if value is None else value
        case "number":
            return int(text(node))
        case "boolean":
            return text(node) == "true"
        case "null":
            return None
        case "array":
            return [literal(child) for child in named(node)]
        case "object":
            return {key: literal(value) for key, value in properties(node).items()}
        case _:
            return ...


def _piece(node: Node) -> str:
    return _ESCAPES.get(text(node), text(node)) if node.type == "escape_sequence" else text(node)

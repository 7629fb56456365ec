"""Resources say what their types know, and all that their types ask for."""

from dataclasses import dataclass

from tree_sitter import Node

from checks.bicep.schema import OF_BICEP, SCALARS, Schema, Shape, schema_of
from checks.bicep.syntax import Findings, inside, key_of, literal, named, properties, walk
from checks.bicep.template import Resource, Template
from checks.bicep.values import kind_of


def check_resources(template: Template, findings: Findings) -> None:
    for node in walk(template.source.root):
        if node.type == "resource_declaration" and node.parent and node.parent.type == "object_property":
            findings.add(node, "a resource inside another one: write it beside it, with parent")
    for resource in template.resources.values():
        _check(resource, template, findings)


def _check(resource: Resource, template: Template, findings: Findings) -> None:
    schema = schema_of(resource.type)
    if schema is None:
        findings.add(resource.node, f"{resource.type} is not among the known types (checks/bicep/schemas)")
        return
    if resource.version != schema.version:
        findings.add(
            resource.node, f"{resource.type}: api-version {resource.version!r}, not {schema.version!r}"
        )
    if resource.body is None:
        findings.add(resource.node, f"{resource.name} has no body")
        return
    checker = _Checker(schema, template, findings)
    if resource.is_existing:
        for name in properties(resource.body).keys() - {"name", "parent", "scope"}:
            findings.add(resource.node, f"an existing resource takes no {name}")
        return
    given = _literals(resource.body)
    checker.object(resource.body, schema.body(given), resource.name, allowed=OF_BICEP)


@dataclass(frozen=True, slots=True)
class _Checker:
    schema: Schema
    template: Template
    findings: Findings

    def object(self, node: Node, shape: Shape, path: str, allowed: frozenset[str] = frozenset()) -> None:
        seen: set[str] = set()
        is_open = False
        for prop in named(node):
            name = key_of(prop)
            if name is None:
                is_open = True
                continue
            if name in seen:
                self.findings.add(prop, f"{path}.{name} is given twice")
            seen.add(name)
            if name not in allowed:
                self._property(prop, name, shape, f"{path}.{name}")
        for name, property_ in shape.properties.items():
            if property_.is_required and name not in seen and not is_open:
                self.findings.add(node, f"{path}.{name} is missing")

    def _property(self, prop: Node, name: str, shape: Shape, path: str) -> None:
        property_ = shape.properties.get(name)
        value = named(prop)[-1]
        if property_ is None and shape.others is None:
            self.findings.add(prop, f"there is no property {path}")
        elif property_ is None:
            self.value(value, shape.others or "any", path)
        elif property_.is_read_only:
            self.findings.add(prop, f"{path} can only be read")
        else:
            self.value(value, property_.type, path)

    def value(self, node: Node, type_: str, path: str) -> None:
        node = inside(node)
        if node.type in ("ternary_expression", "if_statement"):
            for branch in named(node)[1:]:
                self.value(branch, type_, path)
            return
        choices = type_.split(" | ")
        if node.type == "object":
            self._object_value(node, choices, path)
        elif node.type in ("array", "for_statement"):
            self._array_value(node, choices, path)
        else:
            self._scalar(node, choices, path)

    def _object_value(self, node: Node, choices: list[str], path: str) -> None:
        shapes = [choice for choice in choices if self.schema.has(choice)]
        if shapes:
            self.object(node, self.schema.shape(shapes[0], _literals(node)), path)
        elif not {"any", "object"} & set(choices):
            self.findings.add(node, f"{path} must be {_told(choices)}, not an object")

    def _array_value(self, node: Node, choices: list[str], path: str) -> None:
        items = [choice.removesuffix("[]") for choice in choices if choice.endswith("[]")]
        if not items:
            if not {"any", "array"} & set(choices):
                self.findings.add(node, f"{path} must be {_told(choices)}, not an array")
            return
        values = named(node) if node.type == "array" else named(node)[-1:]
        for value in values:
            self.value(value, items[0], f"{path}[]")

    def _scalar(self, node: Node, choices: list[str], path: str) -> None:
        kind = kind_of(node, self.template)
        if kind in ("", "null") or "any" in choices:
            return
        if kind != "string" or "string" not in choices:
            wanted = {self._kind(choice) for choice in choices}
            if kind not in wanted:
                self.findings.add(node, f"{path} must be {_told(choices)}, not a value of type {kind}")
                return
        value, literals = literal(node), [c for c in choices if self._is_literal(c)]
        # A literal may be called as a type is.
        if isinstance(value, str) and literals and value not in choices:
            self.findings.add(node, f"{path} must be {_told(literals)}, not {value!r}")

    def _kind(self, choice: str) -> str:
        if choice.endswith("[]"):
            return "array"
        if choice in SCALARS:
            return choice
        return "object" if self.schema.has(choice) else "string"

    def _is_literal(self, choice: str) -> bool:
        return choice not in SCALARS and not choice.endswith("[]") and not self.schema.has(choice)


def _literals(node: Node) -> dict[str, object]:
    return {name: literal(value) for name, value in properties(node).items()}


def _told(choices: list[str]) -> str:
    return " or ".join(choices[:8])

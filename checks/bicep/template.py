"""What a template declares."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tree_sitter import Node

from checks.bicep.syntax import Source, named, properties, string_of, text, walk

_TYPES: Final = ("type", "primitive_type", "array_type", "nullable_type", "union_type", "parameterized_type")


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter, variable, output, function or type. `type`: as written, empty if it is not."""

    name: str
    node: Node
    type: str = ""
    value: Node | None = None
    decorators: frozenset[str] = frozenset()

    @property
    def is_optional(self) -> bool:
        """Of a parameter: a caller may leave it out."""
        return self.value is not None or self.type.endswith("?")


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource. `body` None: it has none that can be read."""

    name: str
    node: Node
    type: str
    version: str
    body: Node | None
    is_existing: bool

    @property
    def properties(self) -> dict[str, Node]:
        found = properties(self.body).get("properties") if self.body else None
        return properties(found) if found is not None and found.type == "object" else {}


@dataclass(frozen=True, slots=True)
class Module:
    name: str
    node: Node
    path: str
    body: Node | None


@dataclass(frozen=True, slots=True)
class Import:
    name: str
    node: Node
    path: str


@dataclass(frozen=True, slots=True)
class Template:
    source: Source
    params: dict[str, Declared] = field(default_factory=dict)
    variables: dict[str, Declared] = field(default_factory=dict)
    outputs: dict[str, Declared] = field(default_factory=dict)
    functions: dict[str, Declared] = field(default_factory=dict)
    types: dict[str, Declared] = field(default_factory=dict)
    resources: dict[str, Resource] = field(default_factory=dict)
    modules: dict[str, Module] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    repeated: list[Declared] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.source.path

    def target_scope(self) -> str:
        for node in self.source.root.named_children:
            if node.type == "target_scope_assignment":
                return string_of(named(node)[0]) or ""
        return "resourceGroup"

    def symbols(self) -> Iterator[tuple[str, Node]]:
        """Everything that may be named in an expression, except types."""
        for group in (self.params, self.variables, self.functions):
            yield from ((name, each.node) for name, each in group.items())
        yield from ((name, each.node) for name, each in self.resources.items())
        yield from ((name, each.node) for name, each in self.modules.items())
        yield from ((name, each.node) for name, each in self.imports.items())


def read_template(source: Source) -> Template:
    template = Template(source)
    decorators: frozenset[str] = frozenset()
    for node in source.root.named_children:
        if node.type == "decorators":
            decorators = frozenset(_decorator_names(node))
            continue
        if node.type != "comment":
            _declare(template, node, decorators)
            decorators = frozenset()
    return template


def _declare(template: Template, node: Node, decorators: frozenset[str]) -> None:
    groups = {
        "parameter_declaration": template.params,
        "variable_declaration": template.variables,
        "output_declaration": template.outputs,
        "user_defined_function": template.functions,
        "type_declaration": template.types,
    }
    if (group := groups.get(node.type)) is not None:
        declared = _declared(node, decorators)
        if declared.name in group or _is_taken(template, node.type, declared.name):
            template.repeated.append(declared)
        group[declared.name] = declared
    elif node.type == "resource_declaration":
        _add(template, template.resources, _resource(node))
    elif node.type == "module_declaration":
        _add(template, template.modules, _module(node))
    elif node.type == "import_functionality":
        for imported in _imports(node):
            _add(template, template.imports, imported)


def _add[Kind: (Resource, Module, Import)](template: Template, group: dict[str, Kind], each: Kind) -> None:
    if _is_taken(template, "", each.name):
        template.repeated.append(Declared(each.name, each.node))
    group[each.name] = each


def _is_taken(template: Template, kind: str, name: str) -> bool:
    return kind != "output_declaration" and any(name == known for known, _ in template.symbols())


def _declared(node: Node, decorators: frozenset[str]) -> Declared:
    name, *rest = named(node)
    types = [child for child in rest if child.type in _TYPES]
    values = [child for child in rest if child.type not in (*_TYPES, "parameters")]
    written = text(types[0]) if types else ""
    return Declared(text(name), node, written, values[-1] if values else None, decorators)


def _resource(node: Node) -> Resource:
    kind = next((string_of(child) or "" for child in named(node) if child.type == "string"), "")
    type_, _, version = kind.partition("@")
    existing = any(child.type == "existing" for child in node.children)
    return Resource(text(named(node)[0]), node, type_, version, _body(node), existing)


def _module(node: Node) -> Module:
    path = next((string_of(child) or "" for child in named(node) if child.type == "string"), "")
    return Module(text(named(node)[0]), node, path, _body(node))


def _imports(node: Node) -> Iterator[Import]:
    path = next((string_of(child) or "" for child in named(node) if child.type == "string"), "")
    for child in named(node):
        if child.type == "identifier":
            yield Import(text(child), node, path)


def _body(node: Node) -> Node | None:
    """The object behind `=`, below a condition or a loop."""
    last = named(node)[-1]
    while last.type in ("for_statement", "if_statement"):
        last = named(last)[-1]
    return last if last.type == "object" else None


def _decorator_names(node: Node) -> Iterator[str]:
    for call in walk(node):
        if call.type == "call_expression":
            yield text(named(call)[0])

"""What is read of modules, resources and imported values is there to be read."""

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from checks.bicep.project import Project
from checks.bicep.schema import Property, Schema, Shape, schema_of
from checks.bicep.syntax import Findings, literal, named, properties, text, walk
from checks.bicep.template import Import, Module, Resource, Template


@dataclass(frozen=True, slots=True)
class Chain:
    """`root.first.second`, as far as it is written with names."""

    node: Node
    root: str
    names: tuple[str, ...]


def check_references(template: Template, project: Project, findings: Findings) -> None:
    for chain in chains(template.source.root):
        if (module := template.modules.get(chain.root)) is not None:
            _check_module(chain, module, template, project, findings)
        elif (resource := template.resources.get(chain.root)) is not None:
            _check_resource(chain, resource, findings)
        elif (imported := template.imports.get(chain.root)) is not None:
            _check_import(chain, imported, template, project, findings)


def chains(root: Node) -> Iterator[Chain]:
    """The longest chain at every place."""
    for node in walk(root):
        if node.type != "member_expression":
            continue
        if node.parent is not None and node.parent.type == "member_expression":
            continue
        names: list[str] = []
        here = node
        while here.type in ("member_expression", "subscript_expression"):
            inner = named(here)
            if here.type == "member_expression":
                names.insert(0, text(inner[-1]))
            elif names and here.parent is not None and _is_deep(here):
                names.clear()
            here = inner[0]
        if here.type == "identifier" and names:
            yield Chain(node, text(here), tuple(names))


def _is_deep(subscript: Node) -> bool:
    """`a.b[0].c`: what an element of an array holds is not followed. `a[0].b`: an element of a loop is."""
    return named(subscript)[0].type != "identifier"


def _check_module(
    chain: Chain, module: Module, template: Template, project: Project, findings: Findings
) -> None:
    target = project.named_from(template.path, module.path)
    if target is None or chain.names[0] == "name":
        return
    if chain.names[0] != "outputs":
        findings.add(chain.node, f"a module has no {chain.names[0]}, only outputs")
    elif len(chain.names) > 1 and chain.names[1] not in target.outputs:
        findings.add(chain.node, f"{module.path} has no output {chain.names[1]}")


def _check_resource(chain: Chain, resource: Resource, findings: Findings) -> None:
    schema = schema_of(resource.type)
    if schema is None or resource.body is None:
        return
    given = {name: literal(value) for name, value in properties(resource.body).items()}
    shapes: list[Shape] = [schema.body(given)]
    for name in chain.names:
        if not shapes or any(shape.others for shape in shapes):
            return
        found = [shape.properties[name] for shape in shapes if name in shape.properties]
        if not found:
            findings.add(chain.node, f"{resource.type} has no {'.'.join(chain.names)}: unknown {name}")
            return
        shapes = _below(found[0], schema)


def _below(property_: Property, schema: Schema) -> list[Shape]:
    return [schema.shape(choice, {}) for choice in property_.type.split(" | ") if schema.has(choice)]


def _check_import(
    chain: Chain, imported: Import, template: Template, project: Project, findings: Findings
) -> None:
    target = project.named_from(template.path, imported.path)
    variable = target.variables.get(imported.name) if target is not None else None
    value = variable.value if variable is not None else None
    if value is None or value.type != "object":
        return
    if chain.names[0] not in properties(value):
        findings.add(chain.node, f"{imported.path}: {imported.name} has no {chain.names[0]}")

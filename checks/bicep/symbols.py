"""Every name that is used is declared, every name that is declared is used, and none is declared twice."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from checks.bicep.language import DECORATORS, FUNCTIONS, NAMESPACES, TYPES
from checks.bicep.syntax import Findings, named, text, walk
from checks.bicep.template import Template

_DECLARATIONS: Final = frozenset(
    {
        "parameter_declaration",
        "variable_declaration",
        "resource_declaration",
        "module_declaration",
        "output_declaration",
        "type_declaration",
        "user_defined_function",
        "metadata_declaration",
        "parameter",
    }
)


def check_symbols(template: Template, findings: Findings) -> None:
    for declared in template.repeated:
        findings.add(declared.node, f"{declared.name} is declared twice")
    known = {name for name, _ in template.symbols()}
    used: set[str] = set()
    for node in walk(template.source.root):
        if node.type == "identifier" and not _declares(node):
            used.add(text(node))
            _check_use(node, known, template, findings)
    _check_unused(template, used, findings)


def _check_use(node: Node, known: set[str], template: Template, findings: Findings) -> None:
    name, parent = text(node), node.parent
    if parent is None:
        return
    if parent.type == "call_expression" and named(parent)[0] == node:
        _check_call(name, parent, known, findings)
    elif any(
        above.type in ("type", "array_type", "nullable_type", "union_type") for above in _above(node, 1)
    ):
        if name not in template.types and name not in TYPES and name not in template.imports:
            findings.add(node, f"type {name} is not declared")
    elif name not in known and name not in NAMESPACES and name not in _locals(node):
        findings.add(node, f"{name} is not declared")


def _check_call(name: str, call: Node, known: set[str], findings: Findings) -> None:
    if call.parent is not None and call.parent.type == "decorator":
        if name not in DECORATORS:
            findings.add(call, f"there is no decorator {name}")
    elif name not in FUNCTIONS and name not in known:
        findings.add(call, f"there is no function {name}")


def _check_unused(template: Template, used: set[str], findings: Findings) -> None:
    for kind, group in (("parameter", template.params), ("variable", template.variables)):
        for name, declared in group.items():
            if name not in used and "export" not in declared.decorators:
                findings.add(declared.node, f"{kind} {name} is never used")
    for name, imported in template.imports.items():
        if name not in used:
            findings.add(imported.node, f"import {name} is never used")
    for name, resource in template.resources.items():
        if resource.is_existing and name not in used:
            findings.add(resource.node, f"existing resource {name} is never used")


def _declares(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == "import_functionality":
        return True
    first = named(parent)[0] == node if named(parent) else False
    return first and (
        parent.type in _DECLARATIONS
        or parent.type in ("object_property", "lambda_expression", "for_statement")
    )


def _locals(node: Node) -> set[str]:
    """Loop variables, parameters of functions and of lambdas that are visible at `node`."""
    found: set[str] = set()
    for above in _above(node, None):
        if above.type == "for_statement":
            found |= set(_loop_names(above))
        elif above.type == "user_defined_function":
            found |= {text(named(p)[0]) for p in walk(above) if p.type == "parameter"}
        elif above.type in ("arguments", "variable_declaration"):
            # The grammar ends a lambda's body too early, so its parameters count in the whole call.
            found |= {
                text(name)
                for lambda_ in walk(above)
                if lambda_.type == "lambda_expression"
                for name in walk(named(lambda_)[0])
                if name.type == "identifier"
            }
    return found


def _loop_names(loop: Node) -> Iterator[str]:
    first = named(loop)[0]
    if first.type == "identifier":
        yield text(first)
    else:
        yield from (text(child) for child in named(first))


def _above(node: Node, levels: int | None) -> Iterator[Node]:
    parent, left = node.parent, levels
    while parent is not None and left != 0:
        yield parent
        parent = parent.parent
        left = None if left is None else left - 1

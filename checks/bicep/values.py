"""Which kind of value an expression has, where that can be told without running it."""

from typing import Final

from tree_sitter import Node

from checks.bicep.language import FUNCTIONS
from checks.bicep.syntax import inside, named, text
from checks.bicep.template import Template

_OF_NODES: Final = {
    "string": "string",
    "number": "int",
    "boolean": "bool",
    "object": "object",
    "array": "array",
    "for_statement": "array",
    "null": "null",
}
_OF_OPERATORS: Final = {
    **dict.fromkeys(("==", "!=", "=~", "!~", "<", "<=", ">", ">=", "&&", "||"), "bool"),
    **dict.fromkeys(("+", "-", "*", "/", "%"), "int"),
}


def kind_of(node: Node, template: Template) -> str:
    """string, int, bool, object, array or null; empty if unknown."""
    node = inside(node)
    match node.type:
        case "identifier":
            return _kind_of_name(text(node), template)
        case "call_expression":
            return FUNCTIONS.get(text(named(node)[0]), "")
        case "binary_expression":
            return next((_OF_OPERATORS[c.type] for c in node.children if c.type in _OF_OPERATORS), "")
        case "unary_expression":
            return "bool" if node.children[0].type == "!" else "int"
        case _:
            return _OF_NODES.get(node.type, "")


def declared_kind(written: str) -> str:
    """The kind of a declared type; empty if it can be several or is the author's own."""
    type_ = written.removesuffix("?").strip()
    if type_ in ("string", "int", "bool", "object", "array"):
        return type_
    if type_.endswith("[]"):
        return "array"
    return "string" if type_.startswith("'") else ""


def _kind_of_name(name: str, template: Template) -> str:
    if (declared := template.params.get(name)) is not None:
        return declared_kind(declared.type)
    variable = template.variables.get(name)
    if variable is None or variable.value is None or variable.value.type == "identifier":
        return ""
    return kind_of(variable.value, template)

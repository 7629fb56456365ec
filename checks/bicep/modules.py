"""Modules and imports exist under the very path that is written, and get the parameters that they take."""

from tree_sitter import Node

from checks.bicep.project import Project, beside
from checks.bicep.syntax import Findings, named, properties, string_of, text, walk
from checks.bicep.template import Module, Template
from checks.bicep.values import declared_kind, kind_of

_LOADERS = ("loadTextContent", "loadJsonContent", "loadYamlContent", "loadFileAsBase64")
_OF_A_MODULE = frozenset({"name", "params", "scope", "dependsOn"})


def check_modules(template: Template, project: Project, findings: Findings) -> None:
    for module in template.modules.values():
        target = project.named_from(template.path, module.path)
        if target is None:
            findings.add(module.node, f"module {module.path!r} does not exist (letters count)")
        elif module.body is not None:
            _check_parameters(module, target, template, findings)
    _check_imports(template, project, findings)
    _check_loaded_files(template, findings)


def _check_parameters(module: Module, target: Template, template: Template, findings: Findings) -> None:
    assert module.body is not None  # noqa: S101  # the caller has looked
    parts = properties(module.body)
    for name in parts.keys() - _OF_A_MODULE:
        findings.add(module.node, f"a module takes no {name}")
    given = properties(parts["params"]) if "params" in parts else {}
    for name, value in given.items():
        if name not in target.params:
            findings.add(value, f"{module.path} has no parameter {name}")
        else:
            _check_kind(name, value, target, template, findings)
    for name, param in target.params.items():
        if not param.is_optional and name not in given:
            findings.add(module.node, f"{module.path} needs the parameter {name}")
    if target.target_scope() != template.target_scope() and "scope" not in parts:
        findings.add(module.node, f"{module.path} is for a {target.target_scope()}: give it a scope")


def _check_kind(name: str, value: Node, target: Template, template: Template, findings: Findings) -> None:
    wanted = declared_kind(target.params[name].type)
    kind = kind_of(value, template)
    if wanted and kind not in ("", "null", wanted):
        findings.add(value, f"parameter {name} must be of type {wanted}, not {kind}")


def _check_imports(template: Template, project: Project, findings: Findings) -> None:
    for imported in template.imports.values():
        target = project.named_from(template.path, imported.path)
        if target is None:
            findings.add(imported.node, f"imported file {imported.path!r} does not exist (letters count)")
            continue
        exported = {
            name
            for group in (target.variables, target.types, target.functions)
            for name, declared in group.items()
            if "export" in declared.decorators
        }
        if imported.name not in exported:
            findings.add(imported.node, f"{imported.path} does not export {imported.name}")


def _check_loaded_files(template: Template, findings: Findings) -> None:
    for call in walk(template.source.root):
        if call.type != "call_expression" or text(named(call)[0]) not in _LOADERS:
            continue
        path = string_of(named(named(call)[1])[0])
        if path is None or beside(template.path, path) is None:
            findings.add(call, f"loaded file {path!r} does not exist (letters count)")

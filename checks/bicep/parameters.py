"""Parameter files name parameters of their template, each with a value of its type, and leave none open.

The grammar knows no `.bicepparam`. Its assignments look like variables, so they are read as such, and the line
with `using` as a comment of the same length.
"""

import re
from pathlib import Path
from typing import Final

from checks.bicep.policies import check_production
from checks.bicep.problems import Problem
from checks.bicep.project import Project
from checks.bicep.symbols import check_symbols
from checks.bicep.syntax import Findings, Source
from checks.bicep.template import Template, read_template
from checks.bicep.values import declared_kind, kind_of

_USING: Final = re.compile(r"^using '([^']+)'$", re.MULTILINE)
_PARAM: Final = re.compile(r"^param (?=\w+ *=)", re.MULTILINE)


def read_parameters(path: Path) -> tuple[str | None, Template]:
    """The path of its template, as written, and its values as variables."""
    content = path.read_text(encoding="utf-8")
    using = _USING.search(content)
    as_template = _USING.sub(lambda match: "//" + match.group()[2:], _PARAM.sub("var   ", content))
    return using.group(1) if using else None, read_template(Source(path, as_template))


def check_parameters(path: Path, project: Project) -> list[Problem]:
    using, values = read_parameters(path)
    findings = Findings(path)
    values.source.check(findings)
    if findings.problems:
        return findings.problems
    target = project.named_from(path, using) if using else None
    if target is None:
        return [Problem(path, 1, f"template {using!r} does not exist (letters count)")]
    _check_values(values, target, str(using), findings)
    check_symbols(values, findings)
    if ".prod." in path.name:
        check_production(values, findings)
    return [problem for problem in findings.problems if "is never used" not in problem.message]


def _check_values(values: Template, target: Template, using: str, findings: Findings) -> None:
    for name, value in values.variables.items():
        if name not in target.params:
            findings.add(value.node, f"{using} has no parameter {name}")
        elif value.value is not None:
            wanted = declared_kind(target.params[name].type)
            if wanted and kind_of(value.value, values) not in ("", "null", wanted):
                findings.add(value.node, f"parameter {name} must be of type {wanted}")
    for name, param in target.params.items():
        if not param.is_optional and name not in values.variables:
            findings.add(values.source.root, f"{using} needs the parameter {name}")

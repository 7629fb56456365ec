"""All checks over one folder."""

from pathlib import Path

from checks.bicep.compiler import compiler_problems
from checks.bicep.modules import check_modules
from checks.bicep.parameters import check_parameters
from checks.bicep.policies import check_policies
from checks.bicep.problems import Problem
from checks.bicep.project import Project
from checks.bicep.references import check_references
from checks.bicep.resources import check_resources
from checks.bicep.symbols import check_symbols
from checks.bicep.syntax import Findings
from checks.bicep.template import Template


def check(root: Path) -> list[Problem]:
    """Everything that is wrong below `root`, in order. Where the syntax is wrong, nothing else is looked at."""
    project = Project(root)
    found = [problem for template in project.templates() for problem in _check(template, project)]
    for path in project.parameter_files():
        found += check_parameters(path, project)
    return sorted(set(found or compiler_problems(project)))


def _check(template: Template, project: Project) -> list[Problem]:
    findings = Findings(template.path)
    template.source.check(findings)
    if findings.problems:
        return findings.problems
    check_symbols(template, findings)
    check_resources(template, findings)
    check_modules(template, project, findings)
    check_references(template, project, findings)
    check_policies(template, findings)
    return findings.problems

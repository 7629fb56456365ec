"""Bicep's own compiler, where there is one. A warning counts as a fault."""

import shutil
import subprocess
from pathlib import Path

from checks.bicep.problems import Problem
from checks.bicep.project import Project


def compiler_problems(project: Project) -> list[Problem]:
    program = shutil.which("bicep")
    if program is None:
        return []
    stages = sorted(project.root.glob("*.bicep"))
    calls = [(*command, path) for path in stages for command in (("build", "--stdout"), ("lint",))]
    calls += [("build-params", "--stdout", path) for path in project.parameter_files()]
    return [problem for call in calls for problem in _run(program, *map(str, call))]


def _run(program: str, *arguments: str) -> list[Problem]:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    told = [line for line in done.stderr.splitlines() if ": Error " in line or ": Warning " in line]
    if done.returncode and not told:
        told = [done.stderr.strip() or f"bicep {arguments[0]} fails with {done.returncode}"]
    return [Problem(Path(arguments[-1]), 1, line) for line in told]

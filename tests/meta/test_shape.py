"""The shape of the code: small files, small functions, and nothing that nobody reaches."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 45
# Wiring and route tables: one long list of the same kind of line, where splitting would only hide it.
LONG_LISTS = {"shared/bootstrap/__init__.py:build", "local/simulator/application.py:application"}
# Adapters for tests; nothing that is deployed reaches them.
FOR_TESTS = "shared.adapters.memory"

NAMED = re.compile(r"\bshared(?:\.\w+)+")
Function = ast.FunctionDef | ast.AsyncFunctionDef
FILES = sorted(
    file
    for folder in ("shared", "cli", "checks", "backup", "local")
    for file in (ROOT / folder).rglob("*.py")
)


@cache
def nodes_of(file: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(file.read_text())))


def functions() -> Iterator[tuple[str, int]]:
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, Function) and node.end_lineno is not None:
                yield f"{file.relative_to(ROOT)}:{node.name}", node.end_lineno - node.lineno + 1


def test_there_is_something_to_measure() -> None:
    assert len(FILES) > 100
    assert len(list(functions())) > 500


def test_a_file_is_short_enough_to_be_read_at_once() -> None:
    lengths = {str(file.relative_to(ROOT)): file.read_text().count("\n") for file in FILES}

    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_no_function_is_longer_than_a_screen() -> None:
    long = {name: lines for name, lines in functions() if lines > MOST_LINES_OF_A_FUNCTION}

    assert long.keys() <= LONG_LISTS, long


def test_every_exception_to_the_length_of_functions_is_needed() -> None:
    long = {name for name, lines in functions() if lines > MOST_LINES_OF_A_FUNCTION}

    assert long == LONG_LISTS


def test_half_of_all_functions_have_ten_lines_or_fewer() -> None:
    lengths = sorted(lines for _, lines in functions())

    assert lengths[len(lengths) // 2] <= 10


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(file: Path) -> set[str]:
    """Every module it may mean: `from a.b import c` is `a.b` or `a.b.c`. Some are named in texts."""
    found: set[str] = set()
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(NAMED.findall(node.value))
    return found


def reached_from(file: Path) -> set[str]:
    files = {module_of(f): f for f in FILES}
    reached: set[str] = set()
    waiting = imports_of(file)
    while waiting:
        module = waiting.pop()
        if module in files and module not in reached:
            reached.add(module)
            parents = {module.rsplit(".", n)[0] for n in range(1, module.count(".") + 1)}
            waiting |= imports_of(files[module]) | parents
    return reached


def test_every_module_of_the_app_is_reached_from_the_functions() -> None:
    ours = {module_of(file) for file in FILES if file.is_relative_to(ROOT / "shared")}

    unreached = ours - reached_from(ROOT / "function_app.py") - {"shared"}

    assert {module for module in unreached if not module.startswith(FOR_TESTS)} == set()

"""The worked examples of the page on capacity are what the command says."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.__main__ import main
from cli.capacity.command import number

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "plan-capacity.md").read_text()
EXAMPLES = re.findall(r"^\./postern (capacity .+)\n```\n\n((?:\|.+\n)+)", PAGE, re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == PAGE.count("\n./postern capacity") == 5


@pytest.mark.parametrize(("command", "table"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_an_example_has_the_figures_of_the_command(command: str, table: str) -> None:
    arguments = [*shlex.split(command), "--catalog", str(ROOT / "catalog.sample.yaml"), "--json"]

    told = json.loads(CliRunner().invoke(main, arguments).output)

    rows = [
        f"| {use['limit']} | {number(use['needed'])} | {number(use['available'])} | {use['part']:.1%} |"
        for use in told
    ]
    assert table.splitlines()[2:] == rows

"""The script `postern`, where nothing is installed, and where it is."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "postern", tmp_path / "postern")
    return tmp_path


def run(checkout: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([checkout / "postern", "--help"], capture_output=True, text=True, check=False)


def python(checkout: Path, exit_code: int) -> None:
    """In its place something that says how it was called; `exit_code` is what an import comes to."""
    file = checkout / ".venv" / "bin" / "python"
    file.parent.mkdir(parents=True)
    file.write_text(f'#!/bin/sh\nif [ "$1" = -c ]; then exit {exit_code}; fi\necho "$@"\n')
    file.chmod(0o755)


def test_before_the_installation_it_says_what_to_run(checkout: Path) -> None:
    done = run(checkout)

    assert (done.returncode, done.stdout) == (1, "")
    assert "run `make install` first" in done.stderr


def test_during_the_installation_it_says_so_too(checkout: Path) -> None:
    python(checkout, exit_code=1)

    done = run(checkout)

    assert (done.returncode, done.stdout) == (1, "")
    assert "run `make install` first" in done.stderr


@pytest.mark.parametrize("marked", [True, False])
def test_what_is_installed_runs_with_the_mark_of_make_and_without(checkout: Path, marked: bool) -> None:
    python(checkout, exit_code=1 if marked else 0)
    if marked:
        (checkout / ".venv" / ".installed").touch()

    done = run(checkout)

    assert (done.returncode, done.stdout, done.stderr) == (0, "-m cli --help\n", "")


def test_the_module_is_the_one_the_script_asks_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cli.__main__"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr

"""The image holds what the app needs, and nothing else."""

import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from tests.meta.test_functions import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
LISTED = [
    line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")
]
ALLOWED = {line.removeprefix("!") for line in LISTED if line.startswith("!")}
LEFT_OUT = [line for line in LISTED if not line.startswith("!") and line != "*"]


def copied() -> set[str]:
    """What is copied from the checkout, not from the stage before."""
    lines = re.findall(r"^COPY ((?!.*--from).*)$", DOCKERFILE, re.MULTILINE)
    words = [[word for word in line.split() if not word.startswith("--")] for line in lines]
    return {source for line in words for source in line[:-1]}


def test_everything_is_left_out_but_what_is_copied() -> None:
    assert LISTED[0] == "*"
    assert copied() == ALLOWED


def test_it_does_not_run_as_root_and_listens_where_the_manifests_look() -> None:
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)
    assert "ASPNETCORE_URLS=http://+:8080" in DOCKERFILE
    assert DOCKERFILE.rstrip().endswith("EXPOSE 8080")
    manifest = (ROOT / "infra" / "kubernetes" / "http.yaml").read_text()
    assert "containerPort: 8080" in manifest
    assert "runAsUser: 10001" in manifest


def test_it_is_built_on_the_python_that_the_app_is_made_for() -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"

    assert f"azure-functions/python:4-python{python}" in DOCKERFILE


def test_the_app_is_whole_in_it(tmp_path: Path) -> None:
    for name in copied():
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignored)
        else:
            shutil.copy(source, target)
    script = "import function_app as f; print(*sorted(x.get_function_name() for x in f.app.get_functions()))"

    found = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )

    assert not (tmp_path / "shared/adapters/memory").exists()
    assert found.stdout.split() == sorted(FUNCTIONS)


def ignored(folder: str, names: list[str]) -> set[str]:
    here = Path(folder).relative_to(ROOT)
    return {
        name
        for name in names
        if any(fnmatch(str(here / name), line.replace("**/", "*")) for line in LEFT_OUT)
    }

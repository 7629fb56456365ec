"""The documentation holds: links lead somewhere, examples run, lists are whole."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from examples.generator.files import write_samples
from local.stack import Stack, start_stack
from shared.domain.findings import FindingKind
from shared.domain.outcomes import TRANSIENT_REASONS, Outcome
from shared.wire.catalog import read_catalog
from shared.wire.openapi.operations import OPERATIONS
from tests.support.azurite import PROGRAM

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "examples/README.md")),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "local").rglob("*.md"),
        *(ROOT / "infra").rglob("*.md"),
        *(ROOT / "checks").rglob("*.md"),
    ]
)
PAGE_SECONDS = 90

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_MACHINE_PATHS = re.compile(r"(?<![\w.])(?:/(?:work|home|root|Users|tmp|opt|mnt)/|[A-Z]:\\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block. `runs`: it says of itself that it can be run."""

    page: Path
    language: str
    runs: bool
    text: str


def _blocks(page: Path) -> Iterator[Block]:
    for told, text in _FENCE.findall(page.read_text(encoding="utf-8")):
        language, _, rest = told.partition(" ")
        yield Block(page=page, language=language, runs=rest.strip() == "run", text=text)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=_name)


@every_page
def test_links_lead_to_files_and_headings_that_exist(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))

    broken = [link for link in _LINK.findall(prose) if not _leads_somewhere(page, link)]

    assert broken == []


@every_page
def test_no_page_mentions_somebodys_machine(page: Path) -> None:
    assert _MACHINE_PATHS.findall(page.read_text(encoding="utf-8")) == []


@every_page
def test_examples_parse(page: Path) -> None:
    for block in _blocks(page):
        match block.language:
            case "json":
                json.loads(block.text)
            case "yaml":
                yaml.safe_load(block.text)
            case "python":
                ast.parse(block.text)
            case "bash":
                check = subprocess.run(["bash", "-n"], input=block.text, text=True, check=False)
                assert check.returncode == 0, block.text
            case _:
                assert block.language in {"mermaid", "text"}, f"no such kind of block: {block.language!r}"


def test_the_catalogue_for_a_real_account_is_a_good_one() -> None:
    page = ROOT / "docs/how-to/real-azure-openai.md"
    [example] = [block.text for block in _blocks(page) if block.language == "yaml"]

    catalog = read_catalog(
        example.encode(), file="page", env={"AZURE_OPENAI_BATCH_ENDPOINT": "https://NAME.openai.azure.com"}
    )

    assert [str(alias) for alias in catalog.aliases] == ["summarize"]


def test_the_page_on_the_local_stack_has_the_simulators_path_of_every_provider() -> None:
    page = (ROOT / "docs/how-to/local-stack.md").read_text()
    catalog = yaml.safe_load((ROOT / "local/catalog.yaml").read_text())
    addresses = {
        (each["provider"], f'{field}: "{each[field]}"')
        for each in catalog["deployments"].values()
        for field in ("endpoint", "base_url", "storage_url")
        if field in each
    }

    told = dict(re.findall(r"^\| `(\w+)` \| (.*SIMULATOR_URL.*) \|$", page, re.MULTILINE))

    assert len(addresses) == 7
    assert [each for each in sorted(addresses) if each[1] not in told.get(each[0], "")] == []


def test_every_page_of_the_documentation_is_linked_from_another() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in _LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in link
    }

    alone = [page for page in PAGES if (ROOT / "docs") in page.parents and page not in linked]

    assert alone == []


def test_every_finding_that_can_be_raised_is_explained() -> None:
    source = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "shared").rglob("*.py"))
    raised = {kind.value for kind in FindingKind if f"FindingKind.{kind.name}" in source}

    explained = set(re.findall(r"^### (\w+)$", (ROOT / "docs/operations.md").read_text(), re.MULTILINE))

    assert explained == raised


def test_every_alert_that_the_templates_make_is_explained_with_its_severity() -> None:
    template = (ROOT / "infra/modules/alerts.bicep").read_text()
    made = dict(re.findall(r"name: '([a-z-]+)'\n    severity: (\d)", template))
    made |= dict.fromkeys(re.findall(r"name: '\$\{prefix\}-([a-z-]+)-\$\{i\}'", template), "2")
    page = (ROOT / "docs/operations.md").read_text()

    explained = dict(re.findall(r"^\| `([a-z-]+)` \| (\d) \| .+ \| .+ \|$", page, re.MULTILINE))

    assert len(made) > 10
    assert explained == made


def test_every_outcome_and_passing_reason_is_in_the_list() -> None:
    text = (ROOT / "docs/reference/outcomes.md").read_text()

    for word in {*Outcome, *TRANSIENT_REASONS}:
        assert f"`{word}`" in text


def test_every_call_is_in_the_reference() -> None:
    text = (ROOT / "docs/reference/http-api.md").read_text()

    for operation in OPERATIONS:
        path = operation.path.replace("job_id", "id").replace("document_id", "id")
        assert f"{operation.method} {path}" in text


def test_the_sample_data_is_what_the_generator_makes(tmp_path: Path) -> None:
    write_samples(tmp_path)

    made = [file.relative_to(tmp_path) for file in tmp_path.rglob("*") if file.is_file()]
    assert made
    for name in made:
        assert (tmp_path / name).read_bytes() == (ROOT / "examples" / name).read_bytes(), name


RUNNABLE = [page for page in PAGES if any(block.runs for block in _blocks(page))]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    if not PROGRAM.exists():
        pytest.skip("Azurite is not installed; run `make install`")
    with start_stack() as running:
        yield running


@pytest.mark.stack
@pytest.mark.timeout(PAGE_SECONDS + 120)
@pytest.mark.parametrize("page", RUNNABLE, ids=_name)
def test_runnable_examples_run_in_their_order(page: Path, stack: Stack, tmp_path: Path) -> None:
    script = tmp_path / "page.sh"
    script.write_text("\n".join(_as_shell(block, tmp_path) for block in _blocks(page) if block.runs))
    environment = {
        "PATH": os.environ["PATH"],
        "POSTERN_URL": stack.http,
        "POSTERN_KEY": stack.keys["support"],
        "POSTERN_STORAGE": stack.storage,
        "SIMULATOR": stack.simulator,
        "EXAMPLES": str(ROOT / "examples"),
    }

    run = subprocess.run(
        ["bash", "-eu", str(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PAGE_SECONDS,
        check=False,
    )

    assert run.returncode == 0, f"{run.stdout}\n{run.stderr}\n{script.read_text()}"


def _as_shell(block: Block, folder: Path) -> str:
    if block.language != "python":
        return block.text
    file = folder / f"example-{len(list(folder.iterdir()))}.py"
    file.write_text(block.text)
    return f"{sys.executable} {file.name}"


def _leads_somewhere(page: Path, link: str) -> bool:
    if "://" in link:
        return True
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or ROOT not in target.parents:
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(page: Path) -> set[str]:
    """As code forges make them: lower case, punctuation dropped, spaces to hyphens."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(prose)}

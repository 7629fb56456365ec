"""`postern scale` as somebody types it."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.__main__ import main
from cli.scale.shipped import SHIPPED

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str | Path, columns: int = 110) -> Result:
    runner = CliRunner(env={"COLUMNS": str(columns)})
    return runner.invoke(main, ["scale", *(str(argument) for argument in arguments)])


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The shipped files, to be spoilt."""
    for name in ("catalog.sample.yaml", *SHIPPED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def files(checkout: Path) -> list[Path]:
    return [checkout / name for name in SHIPPED]


def with_quota(checkout: Path, per_minute: int) -> Path:
    catalog = checkout / "catalog.sample.yaml"
    catalog.write_text(catalog.read_text().replace("3000000", str(per_minute)))
    return catalog


def test_what_is_shipped_fits_the_sample_catalogue() -> None:
    result = run("--catalog", ROOT / "catalog.sample.yaml", "--check", *(ROOT / name for name in SHIPPED))

    assert result.exit_code == 0, result.output
    assert result.output == "8 figures in 5 files fit the catalogue\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        (SHIPPED[2], "maxReplicaCount: 5", "maxReplicaCount: 6", "maxReplicaCount is 6, and 5 is the most"),
        (SHIPPED[2], '"18"', '"19"', "messageCount is 19, and 18 is the most"),
        (SHIPPED[0], '"maxConcurrentCalls": 64', '"maxConcurrentCalls": 65', "65, and 64 is the most"),
        (SHIPPED[1], '_INSTANCES: "5"', '_INSTANCES: "4"', "is 4, and 5 may be started"),
        (SHIPPED[3], "maxReplicas int = 5", "maxReplicas int = 50", "maxReplicas is 50, and 5 is the most"),
    ],
)
def test_a_figure_that_is_too_large_is_told_with_its_place(
    checkout: Path, file: str, old: str, new: str, told: str
) -> None:
    text = (checkout / file).read_text()
    line = text[: text.index(old)].count("\n") + 1
    (checkout / file).write_text(text.replace(old, new))

    result = run("--catalog", checkout / "catalog.sample.yaml", "--check", *files(checkout))

    assert result.exit_code == 1
    assert f"{checkout / file}:{line}: " in result.stderr
    assert told in result.stderr


def test_a_smaller_quota_makes_the_same_figures_too_large(checkout: Path) -> None:
    catalog = with_quota(checkout, 300_000)

    result = run("--catalog", catalog, "--check", *files(checkout))

    assert result.exit_code == 1
    assert "maxReplicaCount is 5, and 2 is the most" in result.stderr


def test_one_number_is_changed_and_the_rest_is_written(checkout: Path) -> None:
    catalog = with_quota(checkout, 6_000_000)
    before = [file.read_text() for file in files(checkout)]

    written = run("--catalog", catalog, "--write", *files(checkout))

    assert written.exit_code == 0
    assert "maxReplicaCount 5 -> 10" in written.output
    after = [file.read_text() for file in files(checkout)]
    changed = [
        (old, new)
        for one, two in zip(before, after, strict=True)
        for old, new in zip(one.splitlines(), two.splitlines(), strict=True)
        if old != new
    ]
    assert [new.strip() for _, new in changed] == [
        'POSTERN_MAX_INSTANCES: "10"',
        "maxReplicaCount: 10",
        "param maxReplicas int = 10",
        "param maxConcurrentCalls int = 32",
    ]
    assert run("--catalog", catalog, "--check", *files(checkout)).exit_code == 0
    again = run("--catalog", catalog, "--write", *files(checkout)).output
    assert again == "nothing to change: 8 figures in 5 files fit the catalogue\n"


def test_without_files_those_of_the_checkout_are_taken(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = with_quota(checkout, 300_000)
    monkeypatch.chdir(checkout)

    assert "documents.yaml:" in run("--catalog", catalog, "--check").stderr
    assert "maxReplicaCount 5 -> 2" in run("--catalog", catalog, "--write").output
    assert run("--catalog", catalog, "--check").output == "8 figures in 5 files fit the catalogue\n"
    (checkout / "host.json").unlink()
    assert "there is no host.json here" in run("--catalog", catalog, "--check").stderr


def test_figures_that_follow_from_too_little_are_not_written_unasked(checkout: Path) -> None:
    catalog = checkout / "catalog.sample.yaml"
    catalog.write_text(catalog.read_text().replace("tokens_per_minute: 3000000, ", ""))
    before = [file.read_text() for file in files(checkout)]

    refused = run("--catalog", catalog, "--write", *files(checkout))

    assert refused.exit_code == 1
    assert "no tokens_per_minute for mini:" in refused.stderr
    assert "--without-unknown" in refused.stderr
    assert [file.read_text() for file in files(checkout)] == before
    assert "Without mini:" in run("--catalog", catalog).output

    asked = run("--catalog", catalog, "--write", "--without-unknown", *files(checkout))

    assert asked.exit_code == 0
    assert "Warning: " in asked.stderr
    assert "maxReplicaCount 5 -> " in asked.stdout
    assert "no tokens_per_minute for mini:" in run("--catalog", catalog, "--check", *files(checkout)).stderr


def test_flex_does_not_run_with_what_host_json_says(checkout: Path) -> None:
    arguments = ("--catalog", checkout / "catalog.sample.yaml", "--check", checkout / "host.json")

    alone = run("--form", "flex", *arguments)
    with_templates = run("--form", "flex", *arguments, checkout / "infra" / "main.bicep")

    told = "maxConcurrentCalls in infra/main.bicep overrides it"
    assert alone.exit_code == 1
    assert told in alone.stderr
    assert (with_templates.exit_code, with_templates.stdout) == (
        0,
        "2 figures in 1 files fit the catalogue\n",
    )
    assert told in with_templates.stderr


@pytest.mark.parametrize("form", ["kubernetes", "container-apps"])
def test_forms_without_a_setting_of_their_own_run_with_host_json(checkout: Path, form: str) -> None:
    (checkout / "host.json").write_text(
        (checkout / "host.json").read_text().replace('"maxConcurrentCalls": 64', '"maxConcurrentCalls": 65')
    )

    result = run(
        "--catalog", checkout / "catalog.sample.yaml", "--form", form, "--check", checkout / "host.json"
    )

    assert result.exit_code == 1
    assert result.stderr.endswith("maxConcurrentCalls is 65, and 64 is the most\n")


def test_parameters_of_flex_are_known(tmp_path: Path) -> None:
    parameters = tmp_path / "prod.bicepparam"
    parameters.write_text("param maximumInstances = 41\nparam maxConcurrentCalls = 17\n")

    result = run("--catalog", ROOT / "catalog.sample.yaml", "--check", parameters)

    assert result.exit_code == 1
    assert "prod.bicepparam:1: maximumInstances is 41, and 40 is the most" in result.stderr
    assert "prod.bicepparam:2: maxConcurrentCalls is 17, and 16 is the most" in result.stderr


def test_the_arithmetic_is_shown_line_by_line() -> None:
    result = run("--catalog", ROOT / "catalog.sample.yaml", "--form", "kubernetes")

    assert result.exit_code == 0
    for line in ("3,000,000 x 0.5", "1,500,000 / 2,000", "750 x 6 s / 60 s", "5,000 of the queue / 64"):
        assert line in result.output
    assert "Flex" not in result.output
    assert result.output.index("messageCount") < result.output.index("3,000,000 x 0.5")


def test_without_a_form_there_is_one_table_of_answers() -> None:
    told = run("--catalog", ROOT / "catalog.sample.yaml").output

    rows = {cells[0]: cells[1:] for cells in (cells_of(line) for line in told.splitlines())}
    assert rows["instances"] == rows["POSTERN_MAX_INSTANCES"] == ["5", "5", "40"]
    assert rows["maxConcurrentCalls"] == ["64", "64", "16"]
    assert "3,000,000 x 0.5" not in told
    assert "--form kubernetes" in told


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│").split("│")]


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("form", [(), ("--form", "flex")])
def test_tables_keep_to_the_width_of_the_terminal(columns: int, form: tuple[str, ...]) -> None:
    told = run("--catalog", ROOT / "catalog.sample.yaml", *form, columns=columns).output

    assert max(map(len, told.splitlines())) <= columns
    assert "…" not in told
    assert "Consumption" in told
    assert {line[-1] for line in told.splitlines() if line[0] == "│"} == {"│"}
    assert "POSTERN_MAX_INSTANCES" in told
    assert "maxConcurrentCalls" in told


def test_programs_get_json() -> None:
    result = run("--catalog", ROOT / "catalog.sample.yaml", "--json")

    told = json.loads(result.output)
    assert [each["form"] for each in told] == ["kubernetes", "container-apps", "flex"]
    assert [each["instances"] for each in told] == [5, 5, 40]


def test_the_work_can_be_told() -> None:
    arguments = (
        "--tokens-per-document",
        "4000",
        "--seconds-per-call",
        "24",
        "--form",
        "kubernetes",
        "--json",
    )

    [told] = json.loads(run("--catalog", ROOT / "catalog.sample.yaml", *arguments).output)

    assert told["deployments"]["mini"]["calls_at_once"] == 150


def test_a_bad_catalogue_is_told_as_the_app_tells_it(tmp_path: Path) -> None:
    catalog = tmp_path / "bad.yaml"
    catalog.write_text("tenants: {}\n")

    result = run("--catalog", catalog)

    assert result.exit_code == 1
    assert "bad.yaml:1: deployments" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (ROOT / "host.json",),
        ("--check", ROOT / "README.md"),
        ("--form", "mainframe"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: tuple[str | Path, ...]) -> None:
    result = run("--catalog", ROOT / "catalog.sample.yaml", *arguments)

    assert result.exit_code in {1, 2}
    assert result.stderr


def test_help_teaches() -> None:
    help_ = run("--help").output

    assert "postern scale --write host.json infra/kubernetes/*.yaml" in help_
    assert "tokens_per_minute" in help_

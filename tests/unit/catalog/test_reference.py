"""The reference page says what the models say."""

import re
from pathlib import Path

import pytest

from shared.wire.catalog_models import (
    AliasEntry,
    BudgetEntry,
    DeploymentEntry,
    Entry,
    LimitsEntry,
    PipelineEntry,
    PriceEntry,
    TenantEntry,
)
from tests.unit.catalog.texts import read

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "catalog.md").read_text()
SECTIONS: dict[str, type[Entry]] = {
    "tenants": TenantEntry,
    "deployments": DeploymentEntry,
    "aliases": AliasEntry,
    "pipelines": PipelineEntry,
    "prices": PriceEntry,
}


def fields(model: type[Entry]) -> set[str]:
    return {known.alias or name for name, known in model.model_fields.items()}


def section(name: str) -> str:
    return PAGE.split(f"\n## {name}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("name", SECTIONS)
def test_every_field_has_a_row_and_every_row_is_a_field(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \|", section(name), re.MULTILINE)

    assert sorted(rows) == sorted(fields(SECTIONS[name]))


@pytest.mark.parametrize(
    ("name", "row", "inner"), [("tenants", "budget", BudgetEntry), ("deployments", "limits", LimitsEntry)]
)
def test_the_fields_within_a_field_are_in_its_row(name: str, row: str, inner: type[Entry]) -> None:
    text = next(line for line in section(name).splitlines() if line.startswith(f"| `{row}` |"))

    assert {field for field in fields(inner) if f"`{field}`" not in text} == set()


def test_the_example_is_a_good_catalogue() -> None:
    example = PAGE.split("```yaml\n")[1].split("```")[0]

    assert set(read(example, {"AZURE_OPENAI_ENDPOINT": "https://a"}).pipelines) == {"notes"}

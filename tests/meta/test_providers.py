"""What must be there for every provider, and that the documentation says what the code does."""

from pathlib import Path
from typing import get_args

import pytest
import yaml

from checks.providers.__main__ import main
from checks.providers.table import PAGE, page_with, table, traits_of
from local.demo.samples import ALIASES
from local.simulator.rules import Provider as SimulatedProvider
from shared.adapters.pricing._discounts import discounts
from shared.adapters.providers.model_registry import MAKERS
from shared.adapters.providers.registry import MODULES
from shared.wire.catalog_models import Provider
from tests.contract.batching.providers import PROVIDERS as ASKED

ROOT = Path(__file__).resolve().parents[2]
CATALOG = yaml.safe_load((ROOT / "local" / "catalog.yaml").read_text(encoding="utf-8"))
GUIDE = ROOT / "docs" / "how-to" / "add-a-provider.md"


def test_the_catalogue_knows_the_providers_that_there_are() -> None:
    assert set(get_args(Provider)) == set(MODULES) == set(MAKERS)


def test_the_table_of_providers_is_what_the_code_says() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page_with(page, table()) == page, "run `python -m checks.providers --write`"
    assert main([]) == 0


def test_a_table_that_is_out_of_date_is_told_and_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "README.md"
    old.write_text(page_with(PAGE.read_text(encoding="utf-8"), "| old |"), encoding="utf-8")
    monkeypatch.setattr("checks.providers.__main__.PAGE", old)

    assert main([]) == 1
    assert "--write" in capsys.readouterr().err
    assert (main(["--write"]), main([])) == (0, 0)


@pytest.mark.parametrize("provider", sorted(MODULES))
def test_every_provider_can_be_tried_on_the_local_stack(provider: str) -> None:
    deployments = {name for name, entry in CATALOG["deployments"].items() if entry["provider"] == provider}
    lanes = {
        lane
        for alias in CATALOG["aliases"].values()
        for lane in ("minutes", "hours")
        if deployments.intersection(alias.get(lane, ()))
    }

    assert lanes == {"minutes", "hours"}


@pytest.mark.parametrize("provider", sorted(MODULES))
def test_every_provider_is_simulated_and_asked_all_that_providers_are_asked(provider: str) -> None:
    assert provider in get_args(SimulatedProvider.__value__)
    assert any(str(param.id).startswith(provider) for param in ASKED)


@pytest.mark.parametrize("provider", sorted(MODULES))
def test_every_provider_has_a_page_that_shows_how_to_connect_it(provider: str) -> None:
    page = (PAGE.parent / f"{provider}.md").read_text(encoding="utf-8")

    assert f"provider: {provider}" in page


@pytest.mark.parametrize("provider", sorted(set(MODULES) - {"openai_compatible"}))
def test_every_provider_with_a_price_list_has_its_batch_discount(provider: str) -> None:
    assert provider in discounts().by_provider


@pytest.mark.parametrize("provider", sorted(MODULES))
def test_windows_are_whole_hours(provider: str) -> None:
    assert traits_of(provider).window.total_seconds() % 3600 == 0


def test_the_demo_sends_its_job_to_every_provider() -> None:
    asked = {name: CATALOG["aliases"][alias]["hours"][0] for name, alias in ALIASES.items()}

    assert {CATALOG["deployments"][deployment]["provider"] for deployment in asked.values()} == set(asked)
    assert set(asked) == set(MODULES)


def test_the_guide_to_a_new_provider_names_places_that_exist() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = {part for part in text.split("`") if "/" in part and " " not in part and "acme" not in part}

    assert {name for name in named if not (ROOT / name).exists()} == set()
    assert len(named) > 8

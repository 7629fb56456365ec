"""What must be there for every provider, and that the documentation says what the code does."""

from pathlib import Path

import pytest

from checks.providers.__main__ import main
from checks.providers.table import PAGE, page_with, table, traits_of
from shared.adapters.providers.registry import MODULES

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "add-a-provider.md"


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
def test_windows_are_whole_hours(provider: str) -> None:
    assert traits_of(provider).window.total_seconds() % 3600 == 0


def test_the_guide_to_a_new_provider_names_places_that_exist() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = {part for part in text.split("`") if "/" in part and " " not in part and "acme" not in part}

    assert {name for name in named if not (ROOT / name).exists()} == set()
    assert len(named) > 8

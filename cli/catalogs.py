"""A catalogue as a command reads it: without the app settings, which play no part in figures."""

import re
from pathlib import Path
from typing import Final

import click

from shared.domain.catalog import Catalog
from shared.wire.catalog import CatalogRefused, read_catalog

FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
OPTION: Final = click.option(
    "--catalog", type=FILE, default="catalog.sample.yaml", show_default=True, help="The catalogue to read."
)


def read(file: Path) -> Catalog:
    """Raise `ClickException` with what the app would say of it."""
    content = file.read_bytes()
    names = {name.decode("ascii", "replace") for name in re.findall(rb"\$\{(\w+)\}", content)}
    # Each its own address, so that accounts can be told apart.
    env = {name: f"https://{name.lower().replace('_', '-')}.invalid" for name in names}
    try:
        return read_catalog(content, file=str(file), env=env)
    except CatalogRefused as refused:
        raise click.ClickException(str(refused)) from refused

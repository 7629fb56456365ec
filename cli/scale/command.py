"""`postern scale`."""

import json
from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console

from cli import catalogs
from cli.scale.limits import FORMS
from cli.scale.reckoning import Sizing, Work, as_json, size
from cli.scale.shipped import Written, problems, read_files, write_files
from cli.scale.tables import print_sizing

WIDTH = 110
_FORM_NAMES = [form.name for form in FORMS]


@click.command()
@click.argument("files", nargs=-1, type=catalogs.FILE)
@catalogs.OPTION
@click.option(
    "--form",
    "forms",
    type=click.Choice(_FORM_NAMES),
    multiple=True,
    help="Where it runs; may be repeated. Without it: everywhere.",
)
@click.option(
    "--tokens-per-document",
    type=click.IntRange(1, 10**9),
    default=Work().tokens,
    show_default=True,
    help="Tokens of one call, in and out. `GET /v1/usage` tells what yours have.",
)
@click.option(
    "--seconds-per-call",
    type=click.FloatRange(0.01, 3600),
    default=Work().seconds,
    show_default=True,
    help="How long the model takes for one.",
)
@click.option("--json", "as_text", is_flag=True, help="Figures for programs instead of tables.")
@click.option("--check", is_flag=True, help="Exit 1 when a figure in FILES is larger than computed.")
@click.option("--write", is_flag=True, help="Put the computed figures into FILES.")
def scale(
    files: tuple[Path, ...],
    catalog: Path,
    forms: tuple[str, ...],
    tokens_per_document: int,
    seconds_per_call: float,
    as_text: bool,
    check: bool,
    write: bool,
) -> None:
    """How many instances may run, and how many messages each may hold, so that the quotas of the catalogue are
    used and never exceeded.

    A deployment's `tokens_per_minute` times its `share` is what Postern may use. Divided by the tokens of a
    document that is documents a minute; times the seconds of a call, calls under way at once. An instance has a
    place for every 20,000 tokens a minute of its part, 16 at most, so the calls say how many instances are needed.
    Service Bus allows 5,000 receives on a queue and 5,000 connections to a namespace, a region 250 cores to Flex
    Consumption: the smallest number counts.

    To add a deployment or raise a quota, change `tokens_per_minute` in the catalogue, and let the rest follow:

    \b
      postern scale                                          the arithmetic, line by line
      postern scale --catalog my.yaml --form flex --json     the figures, for a program
      postern scale --check host.json infra/kubernetes/*.yaml
      postern scale --write host.json infra/kubernetes/*.yaml
    """
    if (check or write) and not files:
        raise click.UsageError("name the files with --check and --write, such as infra/kubernetes/*.yaml")
    if files and not (check or write):
        raise click.UsageError("say what to do with the files: --check or --write")
    work = Work(tokens=tokens_per_document, seconds=seconds_per_call)
    known = catalogs.read(catalog)
    sizings = {form.name: size(known, work, form) for form in FORMS}
    if files:
        _files(files, sizings, write=write)
    else:
        _print({name: sizings[name] for name in forms or _FORM_NAMES}, as_text=as_text)


def _print(sizings: Mapping[str, Sizing], *, as_text: bool) -> None:
    if as_text:
        click.echo(json.dumps([as_json(sizing) for sizing in sizings.values()], indent=2))
        return
    console = Console(width=WIDTH, highlight=False)
    for sizing in sizings.values():
        print_sizing(console, sizing)


def _files(files: tuple[Path, ...], sizings: Mapping[str, Sizing], *, write: bool) -> None:
    written = _written(files)
    if write:
        for change in write_files(written, sizings):
            click.echo(change)
        return
    found = list(problems(written, sizings))
    for problem in found:
        click.echo(problem, err=True)
    if found:
        raise SystemExit(1)
    click.echo(f"{len(written)} figures in {len(files)} files fit the catalogue")


def _written(files: tuple[Path, ...]) -> list[Written]:
    """Raise `ClickException` when there is nothing to look at: a check of nothing would always pass."""
    try:
        written = list(read_files(files))
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    if not written:
        raise click.ClickException("none of the files holds a figure that follows from the catalogue")
    return written

"""`postern scale`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console

from cli import catalogs
from cli.scale.limits import FLEX, FORMS
from cli.scale.reckoning import Sizing, Work, as_json, size, unknown
from cli.scale.shipped import SHIPPED, Written, problems, read_files, write_files
from cli.scale.tables import print_answers, print_sizing

_FORM_NAMES = [form.name for form in FORMS]


@click.command()
@click.argument("files", nargs=-1, type=catalogs.FILE)
@catalogs.OPTION
@click.option(
    "--form",
    "forms",
    type=click.Choice(_FORM_NAMES),
    multiple=True,
    help="Where it runs, with the arithmetic; may be repeated. Without it: everywhere, the answers alone.",
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
@click.option(
    "--without-unknown",
    is_flag=True,
    help="Write although a deployment has no tokens_per_minute; where none has any, that is one instance.",
)
def scale(
    files: tuple[Path, ...],
    catalog: Path,
    forms: tuple[str, ...],
    tokens_per_document: int,
    seconds_per_call: float,
    as_text: bool,
    check: bool,
    write: bool,
    without_unknown: bool,
) -> None:
    """How many instances may run, and how many messages each may hold, so that the quotas of the catalogue are
    used and never exceeded.

    A deployment's `tokens_per_minute` times its `share` is what Postern may use. Divided by the tokens of a
    document that is documents a minute; times the seconds of a call, calls under way at once. An instance has a
    place for every 20,000 tokens a minute of its part, 16 at most, so the calls say how many instances are needed.
    Service Bus allows 5,000 receives on a queue and 5,000 connections to a namespace, a region 250 cores to Flex
    Consumption: the smallest number counts.

    To add a deployment or raise a quota, change `tokens_per_minute` in the catalogue, and let the rest follow:

    Without FILES, --check and --write take those of the checkout that hold such figures.

    \b
      postern scale                                          the figures of every form
      postern scale --form kubernetes                        the arithmetic, line by line
      postern scale --catalog my.yaml --form flex --json     the figures, for a program
      postern scale --catalog my.yaml --check
      postern scale --write host.json infra/kubernetes/*.yaml
    """
    if files and not (check or write):
        raise click.UsageError("say what to do with the files: --check or --write")
    work = Work(tokens=tokens_per_document, seconds=seconds_per_call)
    known = catalogs.read(catalog)
    sizings = {form.name: size(known, work, form) for form in FORMS}
    if not (check or write):
        _print(
            {name: sizings[name] for name in forms or _FORM_NAMES}, arithmetic=bool(forms), as_text=as_text
        )
        return
    _tell_unknown(unknown(sizings.values()), catalog, stop=write and not without_unknown)
    (_write if write else _check)(_written(files or _shipped(), forms), sizings)


def _print(sizings: Mapping[str, Sizing], *, arithmetic: bool, as_text: bool) -> None:
    if as_text:
        click.echo(json.dumps([as_json(sizing) for sizing in sizings.values()], indent=2))
        return
    console = Console(highlight=False)
    if not arithmetic:
        print_answers(console, list(sizings.values()))
        return
    for sizing in sizings.values():
        print_sizing(console, sizing)


def _tell_unknown(names: Sequence[str], catalog: Path, *, stop: bool) -> None:
    """Raise `ClickException` if `stop`: files shall not be given figures that follow from too little."""
    if not names:
        return
    told = f"{catalog} has no tokens_per_minute for {', '.join(names)}: the figures are without these"
    if stop:
        raise click.ClickException(
            f"{told}. Nothing is written; say tokens_per_minute there, or give --without-unknown"
        )
    click.echo(f"Warning: {told}", err=True)


def _write(written: Sequence[Written], sizings: Mapping[str, Sizing]) -> None:
    changes = list(write_files(written, sizings))
    for change in changes or [f"nothing to change: {_fit(written)}"]:
        click.echo(change)


def _check(written: Sequence[Written], sizings: Mapping[str, Sizing]) -> None:
    found = list(problems(written, sizings))
    for problem in found:
        click.echo(problem, err=True)
    if found:
        raise SystemExit(1)
    click.echo(_fit(written))


def _fit(written: Sequence[Written]) -> str:
    return f"{len(written)} figures in {len({each.file for each in written})} files fit the catalogue"


def _shipped() -> tuple[Path, ...]:
    """Raise `UsageError` when they are not here."""
    files = tuple(Path(name) for name in SHIPPED)
    if missing := [str(file) for file in files if not file.is_file()]:
        raise click.UsageError(f"there is no {missing[0]} here: name the files, or go to the checkout")
    return files


def _written(files: tuple[Path, ...], forms: tuple[str, ...]) -> list[Written]:
    """Raise `ClickException` when there is nothing to look at: a check of nothing would always pass."""
    try:
        found = list(read_files(files))
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    written = [each for each in found if each.place.counts_for(forms)]
    if FLEX.name in forms:
        for each in found:
            if each.file.name == "host.json" and each not in written:
                click.echo(
                    f"{each.file}:{each.line}: {each.name} is not what Flex Consumption runs with:"
                    f" {each.name} in infra/main.bicep overrides it",
                    err=True,
                )
    if not written:
        where = f" for {', '.join(forms)}" if forms else ""
        raise click.ClickException(f"none of the files holds a figure{where} that follows from the catalogue")
    return written

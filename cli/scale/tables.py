"""The arithmetic, line by line, for people."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from cli.scale.reckoning import Need, Process, Sizing, unknown
from shared.domain.pace import TOKENS_A_PLACE

Line = tuple[str, str, str]
# Columns of the names and figures, with lines and spaces.
BESIDE = 44
UNKNOWN = "no tokens_per_minute"


def print_answers(console: Console, sizings: Sequence[Sizing]) -> None:
    """What to set: a column for each form."""
    table = Table(pad_edge=False)
    table.add_column("what", overflow="fold")
    for sizing in sizings:
        table.add_column(sizing.form.name, justify="right", overflow="fold")
    for what, *figures in zip(*(_answers(sizing) for sizing in sizings), strict=True):
        table.add_row(what[0], *(line[2] for line in (what, *figures)))
    console.print(table)
    for sizing in sizings:
        console.print(f"{sizing.form.name}: {sizing.instances} instances: {_why(sizing)}.")
    if names := unknown(sizings):
        console.print(f"Without {', '.join(names)}: {UNKNOWN} in the catalogue.")
    console.print("For the arithmetic, name a form: --form " + ", --form ".join(s.form.name for s in sizings))


def print_sizing(console: Console, sizing: Sizing) -> None:
    """The answer first, then how it comes about."""
    table = Table(title=f"{sizing.form.title}", title_justify="left", show_lines=False, pad_edge=False)
    table.add_column("what", overflow="fold")
    # Gives way first: the name of a setting must not be broken.
    table.add_column("how", max_width=max(console.width - BESIDE, 1), overflow="fold")
    table.add_column("figure", justify="right", no_wrap=True)
    for section in _sections(sizing):
        for line in section:
            table.add_row(*line)
        table.add_section()
    console.print(table)


def _sections(sizing: Sizing) -> Iterator[list[Line]]:
    yield list(_answers(sizing))
    for need in sizing.needs:
        yield list(_need(need, sizing))
    yield list(_bounds(sizing))
    for process in sizing.processes:
        yield list(_process(process, sizing))


def _need(need: Need, sizing: Sizing) -> Iterator[Line]:
    limits, work, name = need.deployment.limits, sizing.work, need.deployment.name
    if need.tokens is None:
        yield f"{name}: tokens a minute", "not in the catalogue, so nothing follows from it", UNKNOWN
        return
    yield f"{name}: tokens a minute", f"{limits.tokens_per_minute:,} x {limits.share:g}", f"{need.tokens:,}"
    yield "documents a minute", f"{need.tokens:,} / {work.tokens:,} tokens of one", f"{need.documents:,}"
    yield "calls at once", f"{need.documents:,} x {work.seconds:g} s / 60 s", f"{need.calls:,}"
    yield "instances with so many places", "the fewest", f"{need.instances:,}"


def _bounds(sizing: Sizing) -> Iterator[Line]:
    for bound in sizing.bounds:
        yield f"instances, by {bound.name}", bound.arithmetic, f"at most {bound.most:,}"


def _process(process: Process, sizing: Sizing) -> Iterator[Line]:
    name = process.need.deployment.name
    if process.tokens is None or process.need.tokens is None:
        yield f"{name}: places of an instance", "where no limit is known", f"{process.places}"
    else:
        part = f"{process.need.tokens:,} / {sizing.instances} / {TOKENS_A_PLACE:,}, 16 at most"
        yield f"{name}: places of an instance", part, f"{process.places}"
    yield "documents at once", "places and a quarter", f"{process.documents}"
    yield "messages in hand", "half as many for others, as many again that wait", f"{process.in_hand}"


def _why(sizing: Sizing) -> str:
    limit = sizing.limited_by
    why = "what the quotas can use" if limit is None else f"limited by {limit.name}"
    if sizing.instances == sizing.form.least > 1:
        why = f"{sizing.form.title} takes no less"
    if any(bound.name == "tokens" and bound.most < sizing.instances for bound in sizing.bounds):
        why += "; the part of one holds no document, so the provider's 429 is the limit"
    return why


def _answers(sizing: Sizing) -> Iterator[Line]:
    yield "instances", _why(sizing), f"{sizing.instances}"
    yield "POSTERN_MAX_INSTANCES", "as many", f"{sizing.instances}"
    yield (
        "maxConcurrentCalls",
        f"in hand, rounded up to a power of two, / {sizing.form.cores} core",
        f"{sizing.calls}",
    )
    yield "messageCount", "documents at once of the busiest deployment", f"{sizing.backlog}"

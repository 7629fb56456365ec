"""The same figures where they are written down: manifests, host.json, Bicep and its parameters."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Final

from cli.scale.limits import CONTAINER_APPS, FLEX, KUBERNETES, Form
from cli.scale.reckoning import Sizing

# What is shipped with figures that follow from the catalogue.
SHIPPED: Final = (
    "host.json",
    "infra/kubernetes/settings.yaml",
    "infra/kubernetes/documents.yaml",
    "infra/container-apps/main.bicep",
    "infra/main.bicep",
)


class Figure(StrEnum):
    """`PROCESSES` is what the app divides a quota by, `INSTANCES` what the platform may start."""

    INSTANCES = "instances"
    PROCESSES = "processes"
    CALLS = "calls"
    BACKLOG = "backlog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How a figure is written, in files whose names end like `ends`. The pattern's second group is the number.

    `form` computes it; `beside` are forms that run with the same figure.
    """

    ends: str
    pattern: re.Pattern[str]
    form: Form
    figure: Figure
    beside: tuple[Form, ...] = ()

    def counts_for(self, forms: Iterable[str]) -> bool:
        """Whether one of the forms, by name, runs with it. No forms: all of them."""
        names = set(forms)
        return not names or any(form.name in names for form in (self.form, *self.beside))


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One figure in one line of a file; lines begin at 1."""

    file: Path
    line: int
    name: str
    value: int
    place: Place


def _parameter(name: str, form: Form, figure: Figure) -> Place:
    return Place(
        ends=".bicepparam", pattern=re.compile(rf"^(param {name} = )(\d+)$"), form=form, figure=figure
    )


def _default(name: str, form: Form, figure: Figure) -> Place:
    return Place(
        ends=".bicep", pattern=re.compile(rf"^(param {name} int = )(\d+)$"), form=form, figure=figure
    )


def _manifest(name: str, figure: Figure, quote: str = "") -> Place:
    pattern = re.compile(rf"^(\s*{name}: {quote})(\d+){quote}$")
    return Place(ends=".yaml", pattern=pattern, form=KUBERNETES, figure=figure)


PLACES: Final = (
    Place(
        ends="host.json",
        pattern=re.compile(r'^(\s*"maxConcurrentCalls": )(\d+),?$'),
        form=KUBERNETES,
        figure=Figure.CALLS,
        # Reckoned alike: a core, and at least one instance. Flex has a setting instead.
        beside=(CONTAINER_APPS,),
    ),
    _manifest("maxReplicaCount", Figure.INSTANCES),
    _manifest("POSTERN_MAX_INSTANCES", Figure.PROCESSES, '"'),
    _manifest("messageCount", Figure.BACKLOG, '"'),
    _default("maxReplicas", CONTAINER_APPS, Figure.INSTANCES),
    _parameter("maxReplicas", CONTAINER_APPS, Figure.INSTANCES),
    _default("maximumInstances", FLEX, Figure.INSTANCES),
    _parameter("maximumInstances", FLEX, Figure.INSTANCES),
    _default("maxConcurrentCalls", FLEX, Figure.CALLS),
    _parameter("maxConcurrentCalls", FLEX, Figure.CALLS),
)


def read_files(files: Iterable[Path]) -> Iterator[Written]:
    """Every figure in them. Raise `OSError` or `UnicodeDecodeError` for a file that cannot be read."""
    for file in files:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            for place in PLACES:
                found = place.pattern.match(line) if file.name.endswith(place.ends) else None
                if found:
                    name = found[1].strip(' ":=').removeprefix("param ").removesuffix(" int")
                    yield Written(file=file, line=number, name=name, value=int(found[2]), place=place)


def problems(written: Sequence[Written], sizings: Mapping[str, Sizing]) -> Iterator[str]:
    """What is larger than the quotas bear, by file and line."""
    for each in written:
        allowed = figure_of(sizings[each.place.form.name], each.place.figure)
        if each.value > allowed and each.place.figure is not Figure.PROCESSES:
            yield f"{each.file}:{each.line}: {each.name} is {each.value}, and {allowed} is the most"
    for _, one_form in groupby(sorted(written, key=_form), key=_form):
        yield from _shared_by_more(list(one_form))


def _form(written: Written) -> str:
    return written.place.form.name


def _shared_by_more(written: Sequence[Written]) -> Iterator[str]:
    """A quota that is divided by fewer processes than may run is asked for more than once."""
    started = max((w.value for w in written if w.place.figure is Figure.INSTANCES), default=0)
    for each in written:
        if each.place.figure is Figure.PROCESSES and each.value < started:
            yield (
                f"{each.file}:{each.line}: {each.name} is {each.value}, and {started} may be started: "
                "together they would ask for more than the quota"
            )


def figure_of(sizing: Sizing, figure: Figure) -> int:
    match figure:
        case Figure.INSTANCES | Figure.PROCESSES:
            return sizing.instances
        case Figure.CALLS:
            return sizing.calls
        case Figure.BACKLOG:
            return sizing.backlog


def write_files(written: Sequence[Written], sizings: Mapping[str, Sizing]) -> Iterator[str]:
    """Put the computed figures in their places, and say which have changed."""
    for file, in_file in groupby(
        sorted(written, key=lambda each: str(each.file)), key=lambda each: each.file
    ):
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        for each in in_file:
            value = figure_of(sizings[each.place.form.name], each.place.figure)
            if value != each.value:
                yield f"{file}:{each.line}: {each.name} {each.value} -> {value}"
                lines[each.line - 1] = _with(lines[each.line - 1], each.place.pattern, value)
        if (changed := "".join(lines)) != text:
            file.write_text(changed, encoding="utf-8")


def _with(line: str, pattern: re.Pattern[str], value: int) -> str:
    bare = line.rstrip("\r\n")
    start, end = next(pattern.finditer(bare)).span(2)
    return f"{line[:start]}{value}{line[end:]}"

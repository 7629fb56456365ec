"""From the document to checked entries, each by itself, so that one bad entry hides no other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shared.wire.catalog_models import (
    AliasEntry,
    DeploymentEntry,
    Entry,
    PipelineEntry,
    PriceEntry,
    TenantEntry,
)
from shared.wire.catalog_yaml import Document, Problem, Tree

_SLUG: Final = (
    "must be a slug: lower-case letters, digits, '-' and '_', at most 63, starting with a letter or digit"
)
_SLUG_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_NAME: Final = (
    "must be a name: letters, digits, '.', '_' and '-', at most 64, starting with a letter or digit"
)
_NAME_CHARACTERS: Final = _SLUG_CHARACTERS | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ.")
# Our containers: a path that begins with one of them could be taken for a path inside it.
RESERVED: Final = frozenset({"documents", "inputs", "jobs", "results"})
_WORDING: Final[Mapping[str, str]] = {
    "missing": "is required",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a smaller number",
    "int_type": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "decimal_parsing": "must be a number",
    "decimal_type": "must be a number",
    "decimal_max_digits": "has too many digits",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "model_type": "must be a mapping of fields",
    "model_attributes_type": "must be a mapping of fields",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_long": "must be at most {max_length} characters",
    "too_long": "must be at most {max_length} items",
    "value_error": "{error}",
}


class _Section(NamedTuple):
    model: type[Entry]
    required: bool


_SECTIONS: Final[Mapping[str, _Section]] = {
    "tenants": _Section(TenantEntry, required=True),
    "deployments": _Section(DeploymentEntry, required=True),
    "aliases": _Section(AliasEntry, required=True),
    "pipelines": _Section(PipelineEntry, required=False),
    "prices": _Section(PriceEntry, required=False),
}


@dataclass(slots=True, kw_only=True)
class Entries:
    """What the document holds. `named` has every name of a section, those of bad entries too."""

    tenants: dict[str, TenantEntry] = field(default_factory=dict)
    deployments: dict[str, DeploymentEntry] = field(default_factory=dict)
    aliases: dict[str, AliasEntry] = field(default_factory=dict)
    pipelines: dict[str, PipelineEntry] = field(default_factory=dict)
    prices: dict[str, PriceEntry] = field(default_factory=dict)
    named: dict[str, frozenset[str]] = field(default_factory=dict)


def read_entries(document: Document, env: Mapping[str, str]) -> tuple[Entries, list[Problem]]:
    """Every good entry, and everything that is wrong with the others."""
    entries, problems = Entries(), list(document.repeated)
    root = document.root
    if not isinstance(root, dict):
        return entries, [document.problem((), "must be a mapping with tenants, deployments and aliases")]
    problems += [
        document.problem((name,), "unknown section" + did_you_mean(name, _SECTIONS))
        for name in root
        if name not in _SECTIONS
    ]
    for name, section in _SECTIONS.items():
        content = root.get(name)
        if isinstance(content, dict):
            problems += _read_section(document, name, content, entries, env)
        elif content is not None:
            problems.append(document.problem((name,), "must be a mapping of names"))
        if section.required and not content:
            problems.append(document.problem((name,), "is required: without it nothing can be done"))
    return entries, problems


def _read_section(
    document: Document, section: str, content: Mapping[str, Tree], entries: Entries, env: Mapping[str, str]
) -> Iterator[Problem]:
    entries.named[section] = frozenset(content)
    good: dict[str, Entry] = getattr(entries, section)
    model = _SECTIONS[section].model
    for name, written in content.items():
        where = (section, name)
        if reason := _bad_name(section, name):
            yield document.problem(where, reason)
        try:
            good[name] = model.model_validate(_without_blanks(written), context=env)
        except ValidationError as error:
            for detail in error.errors(include_url=False, include_input=False):
                yield document.problem((*where, *detail["loc"]), _reason(detail, model))


def _bad_name(section: str, name: str) -> str | None:
    slug = section in {"tenants", "pipelines"}
    characters, limit = (_SLUG_CHARACTERS, 63) if slug else (_NAME_CHARACTERS, 64)
    if section == "prices":
        return None
    if not (0 < len(name) <= limit and set(name) <= characters and name[0].isalnum()):
        return _SLUG if slug else _NAME
    if slug and name in RESERVED:
        return "is the name of a container of Postern's own; choose another"
    return None


def _without_blanks(tree: Tree) -> Tree:
    """A field that is written and left empty counts as not given."""
    if not isinstance(tree, dict):
        return {} if tree is None else tree
    return {name: value for name, value in tree.items() if value is not None}


def _reason(detail: ErrorDetails, model: type[Entry]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return "unknown field" + did_you_mean(str(detail["loc"][-1]), _fields_at(model, detail["loc"][:-1]))
    wording = _WORDING.get(kind)
    return wording.format(**context) if wording else detail["msg"]


def _fields_at(model: type[BaseModel], loc: tuple[Any, ...]) -> list[str]:
    """The fields that exist at this place of an entry."""
    for part in loc:
        annotation = model.model_fields[part].annotation
        choices = [annotation, *getattr(annotation, "__args__", ())]
        model = next(c for c in choices if isinstance(c, type) and issubclass(c, BaseModel))
    return [known.alias or name for name, known in model.model_fields.items()]


def did_you_mean(written: str, known: Mapping[str, object] | list[str] | frozenset[str]) -> str:
    """A hint to append; empty if nothing is near."""
    near = get_close_matches(written[:80], sorted(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""

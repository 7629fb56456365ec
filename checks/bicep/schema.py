"""The types of Azure's resources, from the committed snapshot."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).parent / "schemas"
SCALARS: Final = frozenset({"string", "int", "bool"})
# What Bicep adds to every resource.
OF_BICEP: Final = frozenset({"parent", "scope", "dependsOn"})


@dataclass(frozen=True, slots=True)
class Property:
    """`type` as the snapshot writes it: a scalar, `any`, `X[]`, a type's name, literals, or several with `|`."""

    type: str
    is_required: bool = False
    is_read_only: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """An object. `others`: the type of properties with any other name; None: there must be none."""

    properties: dict[str, Property]
    others: str | None = None


@dataclass(frozen=True, slots=True)
class Schema:
    resource: str
    version: str
    _body: dict[str, Any]
    _types: dict[str, Any]

    def body(self, given: dict[str, object]) -> Shape:
        return _shape(self._body, given)

    def has(self, name: str) -> bool:
        return name in self._types

    def shape(self, name: str, given: dict[str, object]) -> Shape:
        """The object type `name`; where it comes in variants, the one that the literals in `given` choose."""
        return _shape(self._types[name], given)


@cache
def schema_of(resource: str) -> Schema | None:
    path = SCHEMAS / f"{resource.replace('/', '_')}.json"
    if not path.exists():
        return None
    read = json.loads(path.read_text(encoding="utf-8"))
    # A file system may not care about the case of letters; Azure's tools do.
    if read["resource"] != resource:
        return None
    return Schema(read["resource"], read["apiVersion"], read["body"], read["types"])


def _shape(written: dict[str, Any], given: dict[str, object]) -> Shape:
    if "oneOf" not in written:
        return _read(written)
    variants = [_read({**written["base"], **variant}) for variant in written["oneOf"]]
    chosen = [variant for variant in variants if _fits(variant, given)]
    if len(chosen) == 1:
        return chosen[0]
    merged: dict[str, Property] = {}
    for variant in chosen or variants:
        for name, each in variant.properties.items():
            known = merged.get(name)
            merged[name] = Property(f"{known.type} | {each.type}") if known else Property(each.type)
    return Shape(merged, None)


def _read(written: dict[str, str]) -> Shape:
    properties = {
        name: Property(type_.rstrip("!-"), type_.endswith("!"), type_.endswith("-"))
        for name, type_ in written.items()
        if name != "*"
    }
    return Shape(properties, written.get("*"))


def _fits(variant: Shape, given: dict[str, object]) -> bool:
    return all(
        property_.type in SCALARS or given[name] in (property_.type, ...)
        for name, property_ in variant.properties.items()
        if isinstance(given.get(name), str) and " | " not in property_.type and property_.is_required
    )

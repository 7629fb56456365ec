"""JSON Schemas as Gemini's `responseSchema`, an OpenAPI subset without references. Pure.

What is written may be looser than the schema, never stricter: every answer is checked against the whole one.
So a keyword that the subset lacks is left out. Only what cannot be written at all is objected to.

Sources: Google's "Schema" type in the Vertex AI API reference and "Structured output" guide, read 2026-11-30.
Vertex loads a batch's input as a table, so `$defs`, `$ref`, `{}` and odd names would fail the whole job.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import msgspec

from shared.adapters.providers.translation.asked_parts import Unaskable

# A reference that is used often is written out as often.
MAX_NODES: Final = 2_000
# More than any schema needs that is no circle; a table has 15 levels.
MAX_LEVELS: Final = 20

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,127}")
_TYPES: Final = frozenset({"string", "number", "integer", "boolean", "array", "object"})
_SCALARS: Final = ("string", "number", "boolean")
_TEXTS: Final = ("title", "description", "pattern")
_BOUNDS: Final = ("minimum", "maximum")
_COUNTS: Final = ("minItems", "maxItems", "minLength", "maxLength")
# Of strings it is the only one that models are said to take; an unknown one is refused.
_FORMATS: Final = frozenset({"date-time"})
# What is merged by its own rule when several schemas hold at once.
_TOGETHER: Final = frozenset({"properties", "required", "allOf", "$ref"})

Written = dict[str, Any]
_encode: Final = msgspec.json.Encoder().encode


def written_schema(schema: Mapping[str, Any], field: str) -> Written:
    """Raise `Unaskable` about `field` for what no such schema can say. Not to be changed: others have it too."""
    try:
        return _written(_encode(schema), field)
    except RecursionError:
        raise Unaskable(field, "is nested too deeply") from None


# All requests of a job have the same one.
@lru_cache(maxsize=64)
def _written(encoded: bytes, field: str) -> Written:
    schema = msgspec.json.decode(encoded, type=dict[str, Any])
    return _Writer(schema, field).write(schema, ())


class _Writer:
    def __init__(self, root: Mapping[str, Any], field: str) -> None:
        self._root = root
        self._field = field
        self._nodes = 0

    def write(self, schema: object, refs: tuple[str, ...]) -> Written:
        """`refs` are the references that led here, for finding circles."""
        self._count()
        flat, refs = self._flattened(schema, refs)
        branches = [branch for name in ("anyOf", "oneOf") for branch in _list(flat.get(name))]
        if branches:
            return self._alternatives(flat, branches, refs)
        types, nullable = _types_of(flat)
        if not types:
            types = list(_SCALARS) if not nullable else ["string"]
        if len(types) == 1:
            return self._one(flat, types[0], nullable, refs)
        options = [self._one({**flat, "description": None}, type_, False, refs) for type_ in types]
        return _described(flat, {"anyOf": options}, nullable)

    def _flattened(self, schema: object, refs: tuple[str, ...]) -> tuple[Mapping[str, Any], tuple[str, ...]]:
        """The schema without `$ref` and `allOf`, and the references that were followed for it."""
        if not isinstance(schema, Mapping):
            return {}, refs  # true: anything will do
        if "$ref" not in schema and "allOf" not in schema:
            return schema, refs
        parts: list[Mapping[str, Any]] = [schema]
        if "$ref" in schema:
            ref = str(schema["$ref"])
            self._count()
            if refs.count(ref) > MAX_LEVELS:
                raise self._no(f"refers to itself by {ref!r}, which this provider cannot be told")
            target, refs = self._flattened(self._target(ref), (*refs, ref))
            parts.append(target)
        for part in _list(schema.get("allOf")):
            inner, refs = self._flattened(part, refs)
            parts.append(inner)
        return self._merged(parts), refs

    def _merged(self, parts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        merged: dict[str, Any] = {}
        for part in parts:
            for name, value in part.items():
                if name == "properties" and isinstance(value, Mapping):
                    merged["properties"] = {**merged.get("properties", {}), **value}
                elif name == "required":
                    merged["required"] = [*merged.get("required", []), *_list(value)]
                elif name not in _TOGETHER:
                    merged.setdefault(name, value)
        return merged

    def _target(self, ref: str) -> object:
        found: object = self._root
        if not ref.startswith("#"):
            raise self._no(f"refers to {ref!r}, which is not inside it")
        for step in ref[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, Mapping) or name not in found:
                raise self._no(f"refers to {ref!r}, and there is no such part")
            found = found[name]
        return found

    def _alternatives(
        self, flat: Mapping[str, Any], branches: Sequence[object], refs: tuple[str, ...]
    ) -> Written:
        """What stands beside the alternatives holds for each of them."""
        beside = {
            name: value for name, value in flat.items() if name not in ("anyOf", "oneOf", "description")
        }
        useful = [branch for branch in branches if not _is_null(branch)]
        nullable = len(useful) < len(branches)
        options = []
        for branch in useful:
            inner, inner_refs = self._flattened(branch, refs)
            options.append(self.write(self._merged([inner, beside]), inner_refs))
        if not options:
            return {"type": "STRING", "nullable": True}
        if len(options) == 1:
            return _described(flat, options[0], nullable)
        return _described(flat, {"anyOf": options}, nullable)

    def _one(self, flat: Mapping[str, Any], type_: str, nullable: bool, refs: tuple[str, ...]) -> Written:
        made: Written = {"type": type_.upper()}
        for name in _TEXTS:
            if isinstance(flat.get(name), str) and flat[name]:
                made[name] = flat[name]
        _add_bounds(made, flat)
        if type_ == "string":
            _add_string(made, flat)
        elif type_ == "array":
            self._add_items(made, flat, refs)
        elif type_ == "object":
            self._add_properties(made, flat, refs)
        if nullable:
            made["nullable"] = True
        return made

    def _add_items(self, made: Written, flat: Mapping[str, Any], refs: tuple[str, ...]) -> None:
        inner = flat.get("items")
        if inner is None and _list(flat.get("prefixItems")):
            inner = {"anyOf": flat["prefixItems"]}
        # The subset asks for it, whatever the array holds.
        made["items"] = self.write(inner if isinstance(inner, Mapping) else {}, refs)

    def _add_properties(self, made: Written, flat: Mapping[str, Any], refs: tuple[str, ...]) -> None:
        properties = flat.get("properties")
        if not isinstance(properties, Mapping) or not properties:
            return
        for name in properties:
            if not _NAME.fullmatch(name):
                raise self._no(
                    f"has a property {name[:40]!r}; names may hold letters without accents, digits, _ and -"
                )
        made["properties"] = {name: self.write(inner, refs) for name, inner in properties.items()}
        made["propertyOrdering"] = list(properties)
        required = [name for name in dict.fromkeys(_list(flat.get("required"))) if name in properties]
        if required:
            made["required"] = required

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._no(f"has more than {MAX_NODES} parts with its references written out")

    def _no(self, message: str) -> Unaskable:
        return Unaskable(self._field, message)


def _add_bounds(made: Written, flat: Mapping[str, Any]) -> None:
    for name in _BOUNDS:
        if isinstance(flat.get(name), int | float) and not isinstance(flat[name], bool):
            # 0 here and 0.5 there would be a column of two types.
            made[name] = float(flat[name])
    for name in _COUNTS:
        if type(flat.get(name)) is int:
            made[name] = flat[name]


def _add_string(made: Written, flat: Mapping[str, Any]) -> None:
    values = _values_of(flat)
    texts = [value for value in values if isinstance(value, str)]
    # An empty text is no value of an enum there; without the enum every text is allowed.
    if texts and all(texts) and all(isinstance(value, str | None) for value in values):
        made["enum"] = texts
    if flat.get("format") in _FORMATS:
        made["format"] = flat["format"]


def _types_of(flat: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The types that are named, or that follow from what else is said; and whether null is one of them."""
    told = flat.get("type")
    named = [told] if isinstance(told, str) else [each for each in _list(told) if isinstance(each, str)]
    values = _values_of(flat)
    if not named and values:
        named = list(dict.fromkeys(_type_of(value) for value in values))
    if not named and "properties" in flat:
        named = ["object"]
    if not named and ("items" in flat or "prefixItems" in flat):
        named = ["array"]
    nullable = "null" in named and (not values or None in values)
    return [each for each in named if each in _TYPES], nullable


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _values_of(flat: Mapping[str, Any]) -> Sequence[object]:
    return [flat["const"]] if "const" in flat else _list(flat.get("enum"))


def _is_null(branch: object) -> bool:
    return isinstance(branch, Mapping) and branch.get("type") == "null"


def _described(flat: Mapping[str, Any], made: Written, nullable: bool) -> Written:
    told = flat.get("description")
    described = {**made, "description": told} if isinstance(told, str) and told else made
    return {**described, "nullable": True} if nullable else described


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
